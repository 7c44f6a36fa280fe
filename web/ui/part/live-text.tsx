// Text that grows, shown without rendering or laying out again what is there.

import { useEffect, useRef } from "preact/hooks";
import { TerminalText } from "../terminal.ts";

/** Output keeps this much on screen; the rest is in the full output. */
const shown = 200 * 1024;

/** Text is kept in blocks of about this size: one that grows lays out nothing but itself. */
const blockSize = 4 * 1024;

interface Props {
  /** Appended to, never changed; a new array starts over. */
  pieces: readonly string[];
  /** Another one says that there may be more pieces. */
  version: number;
}

/** Output of a command: keeps its end in sight while the reader is there. */
export function LiveOutput({ pieces, version, label }: Props & { label: string }) {
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

/** Plain text, such as code or reasoning that streams in. */
export function LivePlain({ pieces, version, label }: Props & { label: string }) {
  const box = useRef<HTMLPreElement>(null);
  const place = useRef<{ pieces: readonly string[]; next: number; text: GrowingText } | null>(null);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    if (place.current?.pieces !== pieces) {
      el.replaceChildren();
      place.current = { pieces, next: 0, text: new GrowingText(el, null) };
    }
    place.current.text.append(pieces.slice(place.current.next).join(""));
    place.current.next = pieces.length;
  }, [pieces, version]);
  return <pre tabIndex={0} aria-label={label} ref={box} />;
}

class OutputWriter {
  private next = 0;
  private readonly terminal = new TerminalText();
  /** The line that is not complete, which a carriage return may start again. */
  private readonly line = block("");
  private readonly text: GrowingText;

  constructor(
    el: HTMLElement,
    readonly pieces: readonly string[],
  ) {
    el.replaceChildren(this.line.parentNode!);
    this.text = new GrowingText(el, this.line.parentNode);
  }

  write(): void {
    let whole = "";
    while (this.next < this.pieces.length) whole += this.terminal.feed(this.pieces[this.next++]!);
    this.text.append(whole);
    this.text.keep(shown);
    if (this.line.data !== this.terminal.line) this.line.data = this.terminal.line;
  }
}

/** Text in blocks before `end`; a block is left only at the end of a line. */
class GrowingText {
  private last: Text | null = null;
  private length = 0;

  constructor(
    private readonly el: HTMLElement,
    private readonly end: Node | null,
  ) {}

  append(text: string): void {
    if (text === "") return;
    this.length += text.length;
    if (this.last && (this.last.length < blockSize || !this.last.data.endsWith("\n"))) {
      this.last.appendData(text);
      return;
    }
    this.last = block(text);
    this.el.insertBefore(this.last.parentNode!, this.end);
  }

  /** Drops what is more than `most`, from the beginning, in whole blocks. */
  keep(most: number): void {
    for (let first = this.el.firstChild; this.length > most && first && first !== this.last?.parentElement; first = this.el.firstChild) {
      this.length -= first.textContent?.length ?? 0;
      first.remove();
    }
  }
}

function block(text: string): Text {
  const node = document.createTextNode(text);
  document.createElement("div").append(node);
  return node;
}
