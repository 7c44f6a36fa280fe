import { Component, type ComponentChildren, type FunctionComponent, h } from "preact";

/** A component that renders again only when one of its props is another value. */
export function memo<P extends object>(view: (props: P) => ComponentChildren): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const now = this.props as Record<string, unknown>;
      const then = next as Record<string, unknown>;
      for (const key of new Set([...Object.keys(now), ...Object.keys(then)])) if (now[key] !== then[key]) return true;
      return false;
    }
    render(): ComponentChildren {
      return h(view as FunctionComponent<P>, this.props as P);
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}
