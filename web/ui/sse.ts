// An event stream over fetch: EventSource cannot carry the bearer.

export interface SseMessage {
  id: string;
  event: string;
  data: string;
}

/** Decodes the text of an event stream piece by piece. Cost is linear in the text. */
export class SseDecoder {
  private rest: string[] = [];
  private cr = false;
  private id = "";
  private event = "";
  private data: string[] = [];

  /** Takes a piece, cut anywhere, and returns the messages that it completes. */
  feed(piece: string): SseMessage[] {
    const out: SseMessage[] = [];
    let start = 0;
    if (this.cr && piece !== "") {
      this.cr = false;
      if (piece.startsWith("\n")) start = 1;
    }
    for (;;) {
      const end = lineEnd(piece, start);
      if (end < 0) break;
      this.rest.push(piece.slice(start, end));
      const line = this.rest.length === 1 ? this.rest[0]! : this.rest.join("");
      this.rest = [];
      this.line(line, out);
      start = end + 1;
      if (piece[end] === "\r") {
        if (start === piece.length) this.cr = true;
        else if (piece[start] === "\n") start++;
      }
    }
    if (start < piece.length) this.rest.push(piece.slice(start));
    return out;
  }

  private line(line: string, out: SseMessage[]): void {
    if (line === "") {
      if (this.data.length > 0) out.push({ id: this.id, event: this.event || "message", data: this.data.join("\n") });
      this.event = "";
      this.data = [];
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") this.data.push(value);
    else if (field === "event") this.event = value;
    else if (field === "id" && !value.includes("\0")) this.id = value;
  }
}

function lineEnd(text: string, from: number): number {
  const lf = text.indexOf("\n", from);
  const cr = text.slice(from, lf < 0 ? undefined : lf).indexOf("\r");
  return cr < 0 ? lf : from + cr;
}

export type StreamState = { state: "connecting" } | { state: "open" } | { state: "lost"; retryAt: number; status: number };

export interface FollowOptions {
  /** Makes the request; called again for each attempt. */
  open(signal: AbortSignal): Promise<Response>;
  on(message: SseMessage): void;
  state(state: StreamState): void;
  signal: AbortSignal;
}

/** A stream that says nothing for this long, not even a comment, is taken as dead. */
const silence = 60_000;

/** Follows a stream until the signal: reconnects with growing waits, never above ten seconds. Never rejects. */
export async function follow(options: FollowOptions): Promise<void> {
  const { signal } = options;
  for (let failures = 0; !signal.aborted; ) {
    options.state({ state: "connecting" });
    let status = 0;
    let opened = 0;
    const attempt = new AbortController();
    const stop = () => attempt.abort();
    signal.addEventListener("abort", stop, { signal: attempt.signal });
    try {
      const response = await options.open(attempt.signal);
      status = response.status;
      if (response.ok && response.body) {
        options.state({ state: "open" });
        opened = Date.now();
        await read(response.body, options.on, attempt);
      }
    } catch {
      // A connection that fails is what this loop is for; the state says so.
    } finally {
      attempt.abort();
    }
    if (signal.aborted) return;
    // A server that accepts and hangs up at once is no better than one that refuses.
    if (opened > 0 && Date.now() - opened > 5_000) failures = 0;
    const wait = Math.min(10_000, 250 * 2 ** failures++);
    options.state({ state: "lost", retryAt: Date.now() + wait, status });
    await pause(wait, signal);
  }
}

async function read(body: ReadableStream<Uint8Array>, on: (m: SseMessage) => void, attempt: AbortController): Promise<void> {
  const decoder = new SseDecoder();
  const text = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const timer = setTimeout(() => attempt.abort(), silence);
    try {
      const { done, value } = await reader.read();
      if (done) return;
      for (const message of decoder.feed(text.decode(value, { stream: true }))) on(message);
    } finally {
      clearTimeout(timer);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done, { once: true });
  });
}
