// Output of a command as it comes: colour codes and cursor moves are dropped, a
// carriage return starts its line again. Feeding costs the delta.

// CSI, OSC and two-byte escapes; the OSC body is bounded so that a stray introducer cannot eat the output.
const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[@-Z\\^_=>])/g;
const unfinished = /\x1b(?:\[[0-?]{0,256}[ -/]{0,256}|\][^\x07\x1b]{0,4096}\x1b?|)$/;

/** A line longer than this is passed on in pieces: a progress line is never that long. */
const longest = 8192;

export class TerminalText {
  /** The line that is not complete. */
  line = "";
  private held = "";

  /** Takes a piece, cut anywhere, and returns the lines that it completes, with their ends. */
  feed(piece: string): string {
    let text = this.held + piece;
    this.held = "";
    const cut = unfinished.exec(text);
    if (cut) {
      this.held = cut[0];
      text = text.slice(0, cut.index);
    }
    text = text.replace(escapes, "");
    if (text.endsWith("\r")) {
      this.held = "\r" + this.held;
      text = text.slice(0, -1);
    }
    text = text.replace(/\r+\n/g, "\n");
    const end = text.lastIndexOf("\n") + 1;
    const whole = end === 0 ? "" : (this.line + text.slice(0, end)).replace(/^.*\r/gm, "");
    this.line = end === 0 ? this.line + text : text.slice(end);
    const back = this.line.lastIndexOf("\r");
    if (back >= 0) this.line = this.line.slice(back + 1);
    if (this.line.length <= longest) return whole;
    const long = this.line;
    this.line = "";
    return whole + long;
  }
}
