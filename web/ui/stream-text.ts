// Text that streams in by offsets in bytes. Adding costs the delta; readers
// keep their own place and take what is new.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What became of a delta: added, known already, or beyond a hole. */
export type Added = "added" | "known" | "gap";

export class StreamText {
  /** The pieces in order; only ever appended to. */
  readonly pieces: string[] = [];
  /** Bytes in pieces, as UTF-8. */
  bytes = 0;

  add(offset: number, text: string): Added {
    if (offset > this.bytes) return "gap";
    if (offset < this.bytes) {
      const raw = encoder.encode(text);
      const skip = this.bytes - offset;
      if (skip >= raw.length) return "known";
      text = decoder.decode(raw.subarray(skip));
      this.bytes += raw.length - skip;
      this.pieces.push(text);
      return "added";
    }
    if (text === "") return "known";
    this.bytes += utf8Length(text);
    this.pieces.push(text);
    return "added";
  }

  /** Goes on at a later offset; the words stand for what is missing. */
  skipTo(offset: number, words: string): void {
    this.pieces.push(words);
    this.bytes = offset;
  }

  /** All of it, in one string: for what is rendered once. */
  toString(): string {
    return this.pieces.join("");
  }
}

/** Length of the text in UTF-8. A lone surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  let n = text.length;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x80) continue;
    if (c < 0x800) n += 1;
    else if (c >= 0xd800 && c < 0xdc00 && isLow(text.charCodeAt(i + 1))) {
      n += 2;
      i++;
    } else n += 2;
  }
  return n;
}

function isLow(c: number): boolean {
  return c >= 0xdc00 && c < 0xe000;
}
