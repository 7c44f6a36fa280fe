// The streaming part of a thread: text of replies and output of commands that
// is shown and not yet, or never, part of an event.

import type { ThreadEvent } from "./event.ts";
import { StreamText } from "./stream-text.ts";
import type { Live } from "../protocol/api.ts";

/** One note or answer of a reply that still streams. */
export interface LiveText {
  key: string;
  kind: "note" | "answer" | "text" | "reasoning";
  message: string;
  index: number;
  turn: string;
  text: StreamText;
}

export class LiveState {
  /** In order of arrival. */
  readonly texts = new Map<string, LiveText>();
  readonly outputs = new Map<string, StreamText>();
  /** Tools of the actions that a reply asks for so far, by message: what is coming. */
  readonly coming = new Map<string, { turn: string; tools: string[] }>();
  /** What goes on now, in words; "" when nobody said. */
  status = "";
  /** Messages whose reply is complete: late updates of them are dropped. */
  private readonly ended = new Set<string>();

  /** Takes a live update. Returns false for one of a reply that does not join what is known: it must be read anew. */
  add(live: Live): boolean {
    const of = live.of ?? "";
    switch (live.kind) {
      case "status":
        this.status = live.text;
        return true;
      case "action": {
        if (this.ended.has(of)) return true;
        let coming = this.coming.get(of);
        if (!coming) this.coming.set(of, (coming = { turn: live.turn ?? "", tools: [] }));
        coming.tools[live.index ?? coming.tools.length] = live.text;
        return true;
      }
      case "output": {
        let output = this.outputs.get(of);
        if (!output) this.outputs.set(of, (output = new StreamText()));
        if (output.add(live.offset, live.text) === "gap") {
          // What a running command printed before is not to be had until it ends.
          output.skipTo(live.offset, "\n[output that is not shown here is in the full output when the command ends]\n");
          output.add(live.offset, live.text);
        }
        return true;
      }
      case "note":
      case "answer":
      case "text":
      case "reasoning": {
        if (this.ended.has(of)) return true;
        const text = this.text(live.kind, of, live.index ?? 0, live.turn ?? "");
        return text.text.add(live.offset, live.text) !== "gap";
      }
      default:
        return true;
    }
  }

  /** Takes an event: what it makes lasting need not be shown as live any more. */
  settle(event: ThreadEvent): void {
    switch (event.kind) {
      case "message":
        if (event.body.kind === "reply" && event.body.final) this.end(event.body.id);
        break;
      case "note":
        this.drop((t) => t.message === event.body.message && t.kind !== "answer");
        break;
      case "answer":
        this.end(event.body.message);
        break;
      case "action":
        for (const [message, c] of this.coming) if (c.turn === event.turn) this.coming.delete(message);
        if (event.body.state === "done") this.outputs.delete(event.body.id);
        break;
      case "turn":
        this.status = "";
        if (event.body.state === "answered" || event.body.state === "failed" || event.body.state === "stopped") {
          this.drop((t) => t.turn === event.body.id);
          for (const [message, c] of this.coming) if (c.turn === event.body.id) this.coming.delete(message);
        }
        break;
    }
  }

  clear(): void {
    this.texts.clear();
    this.coming.clear();
    this.outputs.clear();
    this.status = "";
  }

  private text(kind: LiveText["kind"], message: string, index: number, turn: string): LiveText {
    const key = `${kind}:${message}:${index}`;
    let text = this.texts.get(key);
    if (!text) this.texts.set(key, (text = { key, kind, message, index, turn, text: new StreamText() }));
    return text;
  }

  private end(message: string): void {
    this.ended.add(message);
    this.coming.delete(message);
    this.drop((t) => t.message === message);
  }

  private drop(match: (t: LiveText) => boolean): void {
    for (const [key, text] of this.texts) if (match(text)) this.texts.delete(key);
  }
}
