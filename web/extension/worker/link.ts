import { parseToWorker, Path, Protocol, type Hello, type ToDaemon, type ToWorker, type TurnFact } from "../../protocol/link";
import { debug, debugging } from "../debug";
import type { PopupState } from "../messages";
import { readIdentity, readPorts, saveToken } from "./identity";

/** Pauses before the next try, in milliseconds; the last one stays. */
const pauses = [1000, 1000, 1000, 3000, 5000];
/** After this much silence a connection is dead: Plexus pings every 10 s. */
const silence = 25_000;
/** How long a connection may take to open. */
const opening = 3000;
const maxUnsent = 32 << 20;

export interface LinkEvents {
  /** What the worker holds of turns, for the hello. */
  turns(): Promise<TurnFact[]>;
  /** A message of the daemon, once it is paired. */
  message(message: Exclude<ToWorker, { type: "welcome" | "pairing" | "refused" | "ping" }>): void;
  /** The state that the popup shows has changed. */
  changed(): void;
}

/**
 * The connection to Plexus: finds its port, greets, pairs, and comes back when it was lost. It keeps nothing that is to be
 * sent: what matters is held by the pages and told again by the hello.
 */
export class Link {
  readonly #events: LinkEvents;
  #socket: WebSocket | null = null;
  #trying = false;
  #tries = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #watchdog: ReturnType<typeof setTimeout> | undefined;
  #state: Omit<PopupState, "type" | "tabs"> = {
    link: "connecting",
    code: "",
    text: "",
    extension: chrome.runtime.getManifest().version,
    plexus: "",
    port: 0,
  };

  constructor(events: LinkEvents) {
    this.#events = events;
  }

  get state(): Omit<PopupState, "type" | "tabs"> {
    return this.#state;
  }

  #set(change: Partial<typeof this.state>): void {
    this.#state = { ...this.#state, ...change };
    this.#events.changed();
  }

  /** Whether messages reach Plexus now. */
  get connected(): boolean {
    return this.#state.link === "connected" && this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Sends a message; what cannot be sent now is dropped. A peer that does not read ends the connection. */
  send(message: ToDaemon): boolean {
    if (!this.connected || this.#socket === null) return false;
    if (this.#socket.bufferedAmount > maxUnsent) {
      this.#socket.close(4000, "too much unsent");
      return false;
    }
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /** Connects if there is no connection. A refusal that a person gave or that an update must solve waits for `again`. */
  async ensure(again = false): Promise<void> {
    if (this.#trying || this.#socket !== null) return;
    if (this.#state.link === "refused" && !again) return;
    clearTimeout(this.#retry);
    this.#trying = true;
    try {
      const socket = await this.#find();
      if (socket !== null) await this.#greet(socket);
    } catch (error) {
      if (debugging) debug("connect", error);
    } finally {
      this.#trying = false;
    }
    if (this.#socket === null) this.#later();
  }

  /** Tries again after a person asked for it. */
  retry(): void {
    this.#tries = 0;
    if (this.#state.link === "refused") this.#set({ link: "connecting", text: "" });
    void this.ensure(true);
  }

  #later(): void {
    if (this.#state.link === "refused") return;
    const pause = pauses[Math.min(this.#tries++, pauses.length - 1)] ?? 5000;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.ensure(), pause);
  }

  /** Opens a connection to the first port that takes one. */
  async #find(): Promise<WebSocket | null> {
    for (const port of await readPorts()) {
      const socket = await open(`ws://localhost:${port}${Path}`);
      if (socket !== null) {
        this.#set({ port });
        return socket;
      }
    }
    return null;
  }

  async #greet(socket: WebSocket): Promise<void> {
    const [identity, turns] = await Promise.all([readIdentity(), this.#events.turns()]);
    if (socket.readyState !== WebSocket.OPEN) return;
    this.#socket = socket;
    socket.addEventListener("message", (event: MessageEvent<unknown>) => this.#receive(socket, event.data));
    socket.addEventListener("close", () => this.#closed(socket));
    this.#alive();
    const hello: Hello = {
      type: "hello",
      protocol: Protocol,
      version: chrome.runtime.getManifest().version,
      browser: identity.browser,
      label: identity.label,
      token: identity.token,
      capabilities: ["chat"],
      turns,
    };
    socket.send(JSON.stringify(hello));
  }

  #alive(): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => {
      const socket = this.#socket;
      socket?.close(4001, "silent");
      if (socket) this.#closed(socket); // a dead peer never answers the close
    }, silence);
  }

  #closed(socket: WebSocket): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    clearTimeout(this.#watchdog);
    if (this.#state.link !== "refused") {
      this.#set({ link: "connecting", code: "", plexus: "" });
      this.#later();
    }
  }

  #receive(socket: WebSocket, data: unknown): void {
    if (socket !== this.#socket) return;
    this.#alive();
    let message: ToWorker | undefined;
    try {
      message = parseToWorker(typeof data === "string" ? JSON.parse(data) : data);
    } catch (error) {
      if (debugging) debug("malformed", error);
      socket.close(4002, "malformed message");
      return;
    }
    if (message === undefined) return; // of a newer Plexus
    if (debugging && message.type !== "ping") debug("from plexus", message);
    switch (message.type) {
      case "ping":
        socket.send(JSON.stringify({ type: "pong", n: message.n } satisfies ToDaemon));
        return;
      case "pairing":
        this.#tries = 0;
        this.#set({ link: "pairing", code: message.code, text: "" });
        return;
      case "refused":
        this.#refused(message.code, message.text);
        return;
      case "welcome":
        this.#tries = 0;
        if (message.token !== undefined) void saveToken(message.token);
        this.#set({ link: "connected", code: "", text: "", plexus: message.version });
        return;
      default:
        this.#events.message(message);
    }
  }

  /** Some refusals are over by themselves; a person's no and another version are not. */
  #refused(code: string, text: string): void {
    this.#socket?.close();
    this.#socket = null;
    clearTimeout(this.#watchdog);
    const lasting = code === "denied" || code === "protocol" || code === "bad-hello";
    this.#set({ link: lasting ? "refused" : "connecting", code: "", text, plexus: "" });
    if (lasting) return;
    this.#tries = pauses.length; // others wait, or the same browser is connected elsewhere: no hurry
    this.#later();
  }
}

/** A connection that opened in time, else null. */
function open(url: string): Promise<WebSocket | null> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url);
    const done = new AbortController();
    const finish = (result: WebSocket | null): void => {
      clearTimeout(timer);
      done.abort();
      if (result === null) socket.close();
      resolve(result);
    };
    const timer = setTimeout(() => finish(null), opening);
    socket.addEventListener("open", () => finish(socket), { signal: done.signal });
    socket.addEventListener("error", () => finish(null), { signal: done.signal });
    socket.addEventListener("close", () => finish(null), { signal: done.signal });
  });
}
