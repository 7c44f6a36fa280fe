import { MaxFrameData, MaxWholeData } from "../../protocol/link";
import type { SiteWire } from "../sites/site";
import type { FromPage, StreamPiece } from "./messages";

/** Characters of a posted message by which it is known. */
const maxBeginning = 2000;

type Told = Omit<StreamPiece, "type" | "nonce">;

/** Bytes read of an answer that is no event stream: enough for the site's word on why it refused. */
const maxRefusal = 64 << 10;

/**
 * Watches the page's streams. It changes nothing for the page: every call goes through, and what is watched is a
 * copy. Only while it is armed does anything leave the page.
 */
export class Streams {
  #nonce = "";
  #last = 0;
  readonly #wire: SiteWire;
  readonly #tell: (message: FromPage) => void;

  constructor(wire: SiteWire, tell: (message: FromPage) => void) {
    this.#wire = wire;
    this.#tell = tell;
  }

  arm(nonce: string): void {
    this.#nonce = nonce;
  }

  disarm(): void {
    this.#nonce = "";
  }

  /** Puts the watched versions in the place of the page's own. */
  install(world: typeof globalThis): void {
    this.#wrapFetch(world);
    this.#wrapWebSocket(world);
    this.#wrapEventSource(world);
  }

  /** Reports for one stream, as long as the turn that it began under is armed. */
  #stream(nonce: string): (piece: Omit<Told, "stream">) => void {
    const stream = `s${++this.#last}`;
    return (piece) => {
      if (nonce !== "" && nonce === this.#nonce) this.#tell({ type: "stream", nonce, stream, ...piece });
    };
  }

  #wrapFetch(world: typeof globalThis): void {
    const native = world.fetch;
    const watch = this.#watchFetch.bind(this);
    world.fetch = function fetch(this: unknown, ...args: Parameters<typeof native>): Promise<Response> {
      const answer = Reflect.apply(native, this ?? world, args) as Promise<Response>;
      watch(args, answer);
      return answer;
    };
  }

  /** Never throws: what it does not understand is not watched. */
  #watchFetch([input, init]: Parameters<typeof fetch>, answer: Promise<Response>): void {
    if (this.#nonce === "") return;
    let url: URL;
    let send: boolean;
    try {
      url = new URL(input instanceof Request ? input.url : String(input), document.baseURI);
      send = this.#wire.isSend(init?.method ?? (input instanceof Request ? input.method : "GET"), url);
    } catch {
      return;
    }
    if (send) this.#posted(input, init);
    const report = this.#stream(this.#nonce);
    answer.then(
      (response) => this.#answered(response, url, send, report),
      () => {
        if (!send) return;
        report({ event: "open", source: "fetch", url: url.origin + url.pathname, status: 0 });
        report({ event: "error", data: "network" });
      },
    );
  }

  #posted(input: RequestInfo | URL, init: RequestInit | undefined): void {
    const nonce = this.#nonce;
    const tell = (body: string): void => {
      const send = this.#wire.readSend(body);
      if (nonce === this.#nonce) this.#tell({ type: "posted", nonce, ...send, text: send.text.slice(0, maxBeginning) });
    };
    const body = init?.body;
    if (typeof body === "string") tell(body);
    else if (body === undefined && input instanceof Request && !input.bodyUsed) input.clone().text().then(tell, () => tell(""));
    else tell("");
  }

  #answered(response: Response, url: URL, send: boolean, report: (piece: Omit<Told, "stream">) => void): void {
    const streams = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    if (!streams && !send) return;
    // Nobody has touched the body yet: this was the first to wait for the response.
    report({ event: "open", source: "fetch", url: url.origin + url.pathname, status: response.status });
    if (response.body === null || response.bodyUsed) {
      report({ event: "close" });
      return;
    }
    void drain(response.clone(), streams ? Infinity : maxRefusal, report);
  }

  #wrapWebSocket(world: typeof globalThis): void {
    const watch = (socket: WebSocket): void => {
      const origin = new URL(socket.url);
      const report = this.#messages("websocket", origin.origin + origin.pathname);
      socket.addEventListener("message", (event: MessageEvent<unknown>) => {
        if (typeof event.data === "string") report(event.data);
      });
      socket.addEventListener("close", () => report(null));
    };
    world.WebSocket = watched(world.WebSocket, watch);
  }

  #wrapEventSource(world: typeof globalThis): void {
    const watch = (source: EventSource): void => {
      const origin = new URL(source.url);
      const report = this.#messages("eventsource", origin.origin + origin.pathname);
      const add = source.addEventListener.bind(source);
      const known = new Set<string>();
      const follow = (name: string): void => {
        if (known.has(name) || name === "open" || name === "error") return;
        known.add(name);
        add(name, (event: Event) => {
          if (event instanceof MessageEvent && typeof event.data === "string") report(asEvent(name, event.data));
        });
      };
      follow("message");
      // Events of other names reach nobody but who listens for them by name.
      source.addEventListener = function (this: EventSource, name: string, ...rest: unknown[]): void {
        follow(name);
        Reflect.apply(EventSource.prototype.addEventListener, this, [name, ...rest]);
      };
      add("error", () => {
        if (source.readyState === EventSource.CLOSED) report(null);
      });
    };
    world.EventSource = watched(world.EventSource, watch);
  }

  /**
   * Reports whole messages of a connection that may be older than the turn: it counts as opened with the first message
   * under each turn. null is its end.
   */
  #messages(source: "websocket" | "eventsource", url: string): (data: string | null) => void {
    let under = "";
    let report: (piece: Omit<Told, "stream">) => void = () => undefined;
    return (data) => {
      if (this.#nonce === "") return;
      if (under !== this.#nonce) {
        if (data === null) return;
        under = this.#nonce;
        report = this.#stream(under);
        report({ event: "open", source, url });
      }
      if (data === null) report({ event: "close" });
      else if (data.length > MaxWholeData) report({ event: "error", data: "too-large" });
      else report({ event: "data", data });
    };
  }
}

/** A constructor that makes what the original makes, and shows it to watch. */
function watched<T, A extends unknown[]>(original: new (...args: A) => T, watch: (made: T) => void): never {
  return new Proxy(original, {
    construct(target, args: A, newTarget): object {
      const made = Reflect.construct(target, args, newTarget) as T & object;
      try {
        watch(made);
      } catch {
        // The page's own use of it goes on.
      }
      return made;
    },
  }) as never;
}

function asEvent(name: string, data: string): string {
  const head = name === "message" ? "" : `event: ${name}\n`;
  return `${head}${data.replace(/^/gm, "data: ")}\n\n`;
}

/**
 * Reads a copy to its end, whether or not anybody still wants it: a copy that is not read stalls the original. Of what is over
 * limit nothing is reported.
 */
async function drain(response: Response, limit: number, report: (piece: Omit<Told, "stream">) => void): Promise<void> {
  const decoder = new TextDecoder();
  let left = limit;
  const pass = (text: string): void => {
    const kept = text.slice(0, left);
    left -= kept.length;
    for (const piece of pieces(kept)) report({ event: "data", data: piece });
  };
  try {
    const reader = response.body?.getReader();
    for (;;) {
      const next = await reader?.read();
      if (next === undefined || next.done) break;
      pass(decoder.decode(next.value, { stream: true }));
    }
    pass(decoder.decode());
    report({ event: "close" });
  } catch (error) {
    report({ event: "error", data: error instanceof DOMException && error.name === "AbortError" ? "aborted" : "broken" });
  }
}

/** Cuts text to the size of a message, never within a character. */
function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + MaxFrameData, text.length);
    const code = text.charCodeAt(end - 1);
    if (end < text.length && code >= 0xd800 && code < 0xdc00) end--;
    yield text.slice(at, end);
    at = end;
  }
}
