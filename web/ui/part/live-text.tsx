// Text that grows, shown without rendering again what is there.

import { useEffect, useRef } from "preact/hooks";
import { TerminalText } from "../terminal.ts";

/** Keeps this much on screen; the rest is in the full output. */
const shown = 200 * 1024;

/**
 * Appends what is new of `pieces` to one element. `version` says that there may
 * be more. A new `pieces` array starts over.
 */
export function LiveOutput({ pieces, version, label }: { pieces: readonly string[]; version: number; label: string }) {
  const box = useRef<HTMLPreElement>(null);
  const writer = useRef<OutputWriter | null>(null);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const atEnd = el.scrollHeight - el.scrollTop - el.clientHeight < 24;
    if (writer.current?.pieces !== pieces) writer.current = new OutputWriter(el, pieces);
    writer.current.write();
    if (atEnd) el.scrollTop = el.scrollHeight;
  }, [pieces, version]);
  return <pre class="output" tabIndex={0} aria-label={label} ref={box} />;
}

class OutputWriter {
  private next = 0;
  private length = 0;
  private readonly terminal = new TerminalText();
  private readonly line = document.createTextNode("");

  constructor(
    private readonly el: HTMLElement,
    readonly pieces: readonly string[],
  ) {
    el.replaceChildren(this.line);
  }

  write(): void {
    let whole = "";
    while (this.next < this.pieces.length) whole += this.terminal.feed(this.pieces[this.next++]!);
    if (whole !== "") {
      this.el.insertBefore(document.createTextNode(whole), this.line);
      this.length += whole.length;
      this.trim();
    }
    if (this.line.data !== this.terminal.line) this.line.data = this.terminal.line;
  }

  private trim(): void {
    while (this.length > shown && this.el.firstChild !== this.line) {
      const first = this.el.firstChild as Text;
      const over = this.length - shown;
      if (first.length > over) {
        first.deleteData(0, over);
        this.length -= over;
      } else {
        this.length -= first.length;
        first.remove();
      }
    }
  }
}

/** Plain text that grows, for code that streams. */
export function LiveCode({ pieces, version }: { pieces: readonly string[]; version: number }) {
  const box = useRef<HTMLElement>(null);
  const place = useRef<{ pieces: readonly string[]; next: number }>({ pieces, next: 0 });
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    if (place.current.pieces !== pieces) {
      place.current = { pieces, next: 0 };
      el.replaceChildren();
    }
    const fresh = pieces.slice(place.current.next).join("");
    place.current.next = pieces.length;
    if (fresh !== "") el.append(fresh);
  }, [pieces, version]);
  return (
    <pre>
      <code ref={box} />
    </pre>
  );
}
