import { MaxMessage, parseToWorker, Path, Protocol, type Hello, type ToDaemon, type ToWorker, type TurnFact } from "../../protocol/link";
import { debug, debugging } from "../debug";
import type { PopupState } from "../messages";
import { proof, readIdentity, readPorts, readRefusal, saveRefusal, saveToken, type Identity } from "./identity";

/** Pauses before the next try, in milliseconds; the last one stays. */
const pauses = [1000, 1000, 1000, 3000, 5000];
/** After this much silence a connection is dead: Plexus pings every 10 s. */
const silence = 25_000;
/** How long a connection may take to open. */
const opening = 3000;
const maxUnsent = 32 << 20;

/** What the daemon says once the greeting is over. */
export type Order = Exclude<ToWorker, { type: "challenge" | "welcome" | "pairing" | "refused" | "ping" }>;

/** What a connection was greeted with. */
interface Greeting {
  identity: Identity;
  nonce: string;
  port: number;
  /** Plexus has shown that it knows our token, or we have none to ask for. */
  trusted: boolean;
}

export interface LinkEvents {
  /** What the worker holds of turns, for the hello. */
  turns(): Promise<TurnFact[]>;
  /** A message of the daemon, once it is paired. */
  message(message: Order): void;
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
  #greeting: Greeting | null = null;
  /** A person asked to pair anew, so the token we have counts for nothing. */
  #afresh = false;
  /** Ports at which something answered that could not prove to be our Plexus; they are tried last. */
  readonly #doubtful = new Set<number>();
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
    const text = JSON.stringify(message);
    // Longer ones would end the connection. In UTF-8 a unit takes three bytes at most.
    if (text.length * 3 > MaxMessage && new TextEncoder().encode(text).length > MaxMessage) return false;
    this.#socket.send(text);
    return true;
  }

  /** Connects if there is no connection. A person's no stands until a person asks to try again. */
  async ensure(): Promise<void> {
    if (this.#trying || this.#socket !== null) return;
    clearTimeout(this.#retry);
    this.#trying = true;
    try {
      const refusal = await readRefusal();
      if (refusal !== "") {
        this.#set({ link: "refused", text: refusal });
        return;
      }
      const found = await this.#find();
      if (found !== null) await this.#greet(found.socket, found.port);
    } catch (error) {
      if (debugging) debug("connect", error);
    } finally {
      this.#trying = false;
    }
    if (this.#socket === null) this.#later();
  }

  /** Tries again after a person asked for it. */
  async retry(): Promise<void> {
    this.#tries = 0;
    this.#afresh = this.#state.link === "refused";
    this.#doubtful.clear();
    await saveRefusal("");
    if (this.#state.link === "refused") this.#set({ link: "connecting", text: "" });
    await this.ensure();
  }

  #later(): void {
    const pause = pauses[Math.min(this.#tries++, pauses.length - 1)] ?? 5000;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.ensure(), pause);
  }

  /** Opens a connection to the first port that takes one. */
  async #find(): Promise<{ socket: WebSocket; port: number } | null> {
    const ports = await readPorts();
    const inOrder = [...ports.filter((p) => !this.#doubtful.has(p)), ...ports.filter((p) => this.#doubtful.has(p))];
    for (const port of inOrder) {
      const socket = await open(`ws://localhost:${port}${Path}`);
      if (socket !== null) return { socket, port };
    }
    return null;
  }

  async #greet(socket: WebSocket, port: number): Promise<void> {
    const [identity, turns] = await Promise.all([readIdentity(), this.#events.turns()]);
    if (socket.readyState !== WebSocket.OPEN) return;
    const paired = identity.token !== "" && !this.#afresh;
    const greeting = { identity, nonce: crypto.randomUUID(), port, trusted: !paired };
    this.#socket = socket;
    this.#greeting = greeting;
    this.#set({ port });
    socket.addEventListener("message", (event: MessageEvent<unknown>) => this.#receive(socket, event.data));
    socket.addEventListener("close", () => this.#closed(socket));
    this.#alive();
    const hello: Hello = {
      type: "hello",
      protocol: Protocol,
      version: chrome.runtime.getManifest().version,
      browser: identity.browser,
      label: identity.label,
      nonce: greeting.nonce,
      paired,
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
    this.#set({ link: "connecting", code: "", plexus: "" });
    this.#later();
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
      case "challenge":
        void this.#prove(socket, message.nonce, message.proof);
        return;
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
        // Who has neither our token nor a new one for us is not the Plexus that a person approved.
        if (this.#greeting?.trusted !== true && message.token === undefined) {
          this.#impostor(socket);
          return;
        }
        this.#tries = 0;
        this.#afresh = false;
        this.#doubtful.clear();
        if (message.token !== undefined) void saveToken(message.token);
        this.#set({ link: "connected", code: "", text: "", plexus: message.version });
        return;
      default:
        if (this.connected) this.#events.message(message);
    }
  }

  /** Answers a challenge, if its sender knows the token itself. */
  async #prove(socket: WebSocket, nonce: string, theirs: string): Promise<void> {
    const greeting = this.#greeting;
    if (greeting === null || socket !== this.#socket) return;
    const { identity, port, nonce: ours } = greeting;
    const [right, answer] = await Promise.all([
      proof(identity.token, "plexus", port, ours, nonce),
      proof(identity.token, "browser", port, ours, nonce),
    ]);
    if (socket !== this.#socket) return;
    if (theirs !== right) {
      this.#impostor(socket);
      return;
    }
    greeting.trusted = true;
    socket.send(JSON.stringify({ type: "proof", proof: answer } satisfies ToDaemon));
  }

  /** Leaves what cannot be our Plexus, and goes on looking for the one that is. */
  #impostor(socket: WebSocket): void {
    const { port } = this.#state;
    this.#doubtful.add(port);
    this.#part(socket, 4003, "no proof");
    const text = `What answers on port ${port} is not the Plexus that you approved. If you have set Plexus up anew, try again to pair.`;
    this.#set({ link: "refused", code: "", text, plexus: "" });
    this.#later();
  }

  /** A person's no stands. Other refusals pass: the alarm tries again, without hurry. */
  #refused(code: string, text: string): void {
    if (this.#socket !== null) this.#part(this.#socket, 1000, "");
    if (code === "denied") void saveRefusal(text);
    this.#set({ link: code === "denied" ? "refused" : "connecting", code: "", text, plexus: "" });
  }

  #part(socket: WebSocket, code: number, reason: string): void {
    this.#socket = null;
    clearTimeout(this.#watchdog);
    socket.close(code, reason);
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
