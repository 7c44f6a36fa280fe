import { asId, asPiece, type Piece } from "../evidence";
import { portName, type FromPage, type Posted, type Reply, type ToPage } from "../page/messages";
import { checked, type Shapes } from "../shape";
import type { Clock } from "./wait";

const shapes: Shapes<FromPage> = {
  up: {},
  stream: { nonce: "string", stream: "string", event: "string", source: "string?", url: "string?", status: "number?", data: "string?" },
  posted: { nonce: "string", messageId: "string", conversationId: "string", text: "string" },
  reply: { id: "number", text: "string", error: "string" },
};

/** Text and error of an editor request; text is the editor's content afterwards. */
export type EditorText = Pick<Reply, "text" | "error">;

/**
 * The isolated script's end of the channel to the page script. What comes out of it is evidence and no more: it
 * passed through the page's own world.
 */
export class PageScript {
  readonly #port: MessagePort;
  #nonce = "";
  #lastId = 0;
  readonly #open = new Map<number, (text: EditorText) => void>();
  onStream: (piece: Piece) => void = () => undefined;
  onPosted: (posted: Posted) => void = () => undefined;

  constructor(world: Window) {
    const channel = new MessageChannel();
    this.#port = channel.port1;
    this.#port.onmessage = (event: MessageEvent<unknown>) => this.#take(event.data);
    world.postMessage(portName, location.origin, [channel.port2]);
  }

  #take(value: unknown): void {
    const message = checked(shapes, value);
    switch (message?.type) {
      case "stream":
        if (this.#nonce !== "" && message.nonce === this.#nonce) {
          const piece = asPiece(message);
          if (piece !== null) this.onStream(piece);
        }
        break;
      case "posted":
        if (this.#nonce !== "" && message.nonce === this.#nonce) {
          this.onPosted({ ...message, messageId: asId(message.messageId), conversationId: asId(message.conversationId) });
        }
        break;
      case "reply":
        this.#open.get(message.id)?.(message);
        this.#open.delete(message.id);
        break;
    }
  }

  #tell(message: ToPage): void {
    this.#port.postMessage(message);
  }

  /** Lets the page script report, under a name of its own. */
  arm(): void {
    this.#nonce = crypto.randomUUID();
    this.#tell({ type: "arm", nonce: this.#nonce });
  }

  disarm(): void {
    this.#nonce = "";
    this.#tell({ type: "disarm" });
  }

  /** Changes or reads the editor. A page script that does not answer within 5 s counts as missing. */
  async edit(type: "insert" | "append" | "read", text: string, clock: Clock, signal: AbortSignal): Promise<EditorText> {
    const id = ++this.#lastId;
    const answer = new Promise<EditorText>((resolve) => {
      this.#open.set(id, resolve);
      void clock.sleep(5000, signal).then(() => resolve({ text: "", error: "no page script" }));
    });
    this.#tell(type === "read" ? { type, id } : { type, id, text });
    return answer.finally(() => this.#open.delete(id));
  }
}
