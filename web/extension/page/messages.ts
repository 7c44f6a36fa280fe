import type { StreamUpdate } from "../../protocol/link";

/** Name of the one message that hands the page script its end of a private channel. */
export const portName = "plexus-port";

/** From the isolated script to the page script. `id` is answered by a Reply with the same id. */
export type ToPage =
  | { type: "arm"; nonce: string }
  | { type: "disarm" }
  /** Makes text the whole content of the editor. */
  | { type: "insert"; id: number; text: string }
  /** Adds text at the end of the editor. */
  | { type: "append"; id: number; text: string }
  /** Asks for the text of the editor. */
  | { type: "read"; id: number };

/** What the page saw of a stream while it was armed. */
export type StreamPiece = { type: "stream"; nonce: string } & Omit<StreamUpdate, "type" | "turn" | "n">;

/** A request that delivers a message was made. */
export interface Posted {
  type: "posted";
  nonce: string;
  messageId: string;
  conversationId: string;
  /** Of the message, its beginning; "" when the request does not tell. */
  text: string;
}

export type Reply = { type: "reply"; id: number; text: string; error: string };

export type FromPage = { type: "up" } | StreamPiece | Posted | Reply;
