// Cuts Markdown that streams in into blocks, so that only the block that grows
// is rendered again. Feeding costs the delta. The cuts are for showing early: the
// complete text is parsed as a whole at the end.

/** A code fence that is open: its lines are shown as they come, without parsing. */
export interface OpenFence {
  lang: string;
  /** Appended to, never changed. */
  pieces: string[];
}

const fenceLine = /^( {0,3})(`{3,}|~{3,})(.*)$/;
const listLine = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;

export class MarkdownBlocks {
  /** Complete blocks, in order; only ever appended to. */
  readonly closed: string[] = [];
  /** The block that grows, when it is no fence. */
  tail = "";
  fence: OpenFence | null = null;

  private line = "";
  private mark = "";
  private blank = false;
  private list = false;
  private inner = "";

  feed(delta: string): void {
    let start = 0;
    for (;;) {
      const end = delta.indexOf("\n", start);
      if (end < 0) break;
      this.line += delta.slice(start, end);
      const line = this.line;
      this.line = "";
      this.take(line.endsWith("\r") ? line.slice(0, -1) : line);
      start = end + 1;
    }
    this.line += delta.slice(start);
  }

  /** The growing block with the line that is not complete yet. */
  get growing(): string {
    return this.fence ? "" : this.tail + this.line;
  }

  private take(line: string): void {
    if (this.fence) {
      if (closes(line, this.mark)) this.closeFence();
      else this.fence.pieces.push(line + "\n");
      return;
    }
    if (this.inner !== "") {
      // A fence inside a list or quote: blank lines in it do not end the block.
      if (closes(line.trim(), this.inner)) this.inner = "";
      this.tail += line + "\n";
      return;
    }
    const fence = fenceLine.exec(line);
    if (fence && !(fence[2]!.startsWith("`") && fence[3]!.includes("`")) && !(this.list && fence[1] !== "")) {
      this.cut();
      this.mark = fence[2]!;
      this.fence = { lang: fence[3]!.trim().split(/\s+/)[0] ?? "", pieces: [] };
      return;
    }
    if (line.trim() === "") {
      this.blank = true;
      if (this.tail !== "") this.tail += "\n";
      if (!this.list) this.cut();
      return;
    }
    const item = listLine.test(line);
    if (this.blank && this.list && !item && !/^\s/.test(line)) this.cut();
    if (this.tail === "") this.list = item;
    this.blank = false;
    const nested = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}|~{3,})/.exec(line);
    if (nested && (this.list || line.startsWith(">")) && !line.slice(nested[0].length).includes("`")) this.inner = nested[1]!;
    this.tail += line + "\n";
  }

  private cut(): void {
    if (this.tail.trim() !== "") this.closed.push(this.tail);
    this.tail = "";
    this.list = false;
    this.blank = false;
  }

  private closeFence(): void {
    const fence = this.fence!;
    const body = fence.pieces.join("");
    this.closed.push(`${this.mark}${fence.lang}\n${body}${this.mark}\n`);
    this.fence = null;
    this.mark = "";
  }
}

function closes(line: string, mark: string): boolean {
  const m = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line);
  return m !== null && m[1]!.startsWith(mark);
}
