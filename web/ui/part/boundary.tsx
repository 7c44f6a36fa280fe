import { Component, type ComponentChildren } from "preact";
import { Failure } from "./failure.tsx";

/** A part that cannot be shown says so, and the rest of the page goes on. A new `key` tries again. */
export class Boundary extends Component<{ children: ComponentChildren }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static override getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  render(): ComponentChildren {
    if (this.state.error === null) return this.props.children;
    return <Failure error={this.state.error} retry={() => this.setState({ error: null })} />;
  }
}
