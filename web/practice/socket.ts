import type { Api } from "./api";

// Kept at load, like fetch; see api.ts.
const Socket = window.WebSocket;

/** Follows one topic: gets each encoded item, and whether the topic is done. */
interface Follower {
  item: (encoded: string) => void;
  done: () => void;
  fail: (error: Error) => void;
}

type Frame = {
  id?: number;
  type?: string;
  topic_id?: string;
  reply?: { ok: boolean; catchups: Frame[] };
  payload?: { type?: string; payload?: { type?: string; encoded_item?: string } };
};

/** The page's WebSocket: open while the page is, it carries what the site tells without being asked. */
export class SiteSocket {
  #api: Api;
  #socket: WebSocket | null = null;
  #opened: Promise<WebSocket> | null = null;
  #lastId = 0;
  #followers = new Map<string, Follower>();

  constructor(api: Api) {
    this.#api = api;
  }

  /** Connects if there is no connection. */
  open(): Promise<WebSocket> {
    this.#opened ??= this.#connect();
    return this.#opened;
  }

  /** Gives every item of a topic to onItem; ends with the topic, and fails with the connection. */
  async follow(topic: string, onItem: (encoded: string) => void, signal: AbortSignal): Promise<void> {
    const socket = await this.open();
    await new Promise<void>((resolve, reject) => {
      this.#followers.set(topic, { item: onItem, done: resolve, fail: reject });
      signal.addEventListener("abort", () => reject(new DOMException("stopped", "AbortError")), { once: true });
      socket.send(JSON.stringify([{ id: ++this.#lastId, command: { type: "subscribe", topic_id: topic, offset: "0" } }]));
    }).finally(() => this.#followers.delete(topic));
  }

  async #connect(): Promise<WebSocket> {
    const { websocket_url } = await this.#api.json<{ websocket_url: string }>("GET", "/backend-api/celsius/ws/user");
    const socket = new Socket(websocket_url);
    this.#socket = socket;
    socket.addEventListener("message", (event) => this.#receive(String(event.data)));
    socket.addEventListener("close", () => this.#lost());
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve(), { once: true });
      socket.addEventListener("close", () => reject(new Error("network error")), { once: true });
    });
    socket.send(
      JSON.stringify([
        { id: ++this.#lastId, command: { type: "connect", presence: { type: "presence", state: "foreground" } } },
        { id: ++this.#lastId, command: { type: "subscribe", topic_id: "conversations" } },
      ]),
    );
    return socket;
  }

  #lost(): void {
    if (this.#socket === null) return;
    this.#socket = null;
    this.#opened = null;
    for (const follower of this.#followers.values()) follower.fail(new Error("network error"));
  }

  #receive(text: string): void {
    for (const frame of JSON.parse(text) as Frame[]) {
      for (const missed of frame.reply?.catchups ?? []) this.#take(missed);
      this.#take(frame);
    }
  }

  #take(frame: Frame): void {
    const follower = this.#followers.get(frame.topic_id ?? "");
    const inner = frame.payload?.payload;
    if (follower === undefined || frame.payload?.type !== "conversation-turn-stream") return;
    if (inner?.type === "stream-item" && inner.encoded_item !== undefined) follower.item(inner.encoded_item);
    if (inner?.type === "done") follower.done();
  }
}
