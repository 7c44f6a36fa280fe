import type { ResponseError, SiteNotice, StreamUpdate, SubmitProgress, TurnFact } from "../protocol/link";
import type { Shapes } from "./shape";

/** Name of the connection that the worker opens to a tab that we own. */
export const tabPort = "plexus-tab";
/** Name of the connection that the popup opens to the worker. */
export const popupPort = "plexus-popup";

/** A turn that a page holds. */
export interface HeldTurn {
  turn: string;
  send: string;
  stage: TurnFact["stage"];
  lastN: number;
  messageId: string;
}

/** What a message is submitted with. */
export interface SubmitOrder {
  send: string;
  turn: string;
  text: string;
  /** Number of the turn's first update from this page. */
  firstN: number;
  /** Hashes of texts that we have put into this thread's composer before. */
  own: string[];
}

/** From the worker to the isolated script of a tab that we own. An `id` is answered by an Answer with the same id. */
export type ToContent =
  | ({ type: "submit"; id: string } & SubmitOrder)
  | { type: "go"; send: string; go: boolean }
  | { type: "ready"; id: string; ms: number }
  | { type: "stop"; id: string }
  | { type: "end"; id: string; turn: string }
  | { type: "resume"; id: string; turn: string; from: number }
  | { type: "ack"; turn: string; n: number }
  | { type: "look"; id: string }
  | { type: "recover"; id: string; ask: string; turn: string; messageId: string; text: string }
  | { type: "project"; id: string; name: string; project: string }
  /** The updates so far were taken; the next may come. */
  | { type: "taken" }
  | { type: "woken"; n: number };

/** From the isolated script to the worker. */
export type FromContent =
  /** First on each connection. doc is made anew with each document. */
  | { type: "here"; doc: string; url: string; held: HeldTurn | undefined }
  | { type: "answer"; id: string; result: unknown; error: ResponseError | undefined }
  | ({ type: "progress" } & Omit<SubmitProgress, "type" | "id"> & { send: string })
  | ({ type: "update" } & Omit<StreamUpdate, "type">)
  | ({ type: "notice"; turn: string } & Pick<SiteNotice, "code" | "text" | "until">)
  /** ask is that of the "recover" which it answers. */
  | { type: "recovered"; ask: string; turn: string; text: string }
  /** Asks for "woken" after ms: timers of a hidden page are slow. */
  | { type: "sleep"; n: number; ms: number };

export const fromContent: Shapes<FromContent> = {
  here: { doc: "string", url: "string", held: "object?" },
  answer: { id: "string", error: "object?" },
  progress: { send: "string", turn: "string", stage: "string", messageId: "string?", conversationId: "string?" },
  update: { turn: "string", n: "number", stream: "string", event: "string", source: "string?", url: "string?", status: "number?", data: "string?" },
  notice: { turn: "string", code: "string", text: "string", until: "string?" },
  recovered: { ask: "string", turn: "string", text: "string" },
  sleep: { n: "number", ms: "number" },
};

/** One-off messages of our own pages and scripts to the worker. */
export type ToWorkerScript =
  /** A page that holds a turn has lost the worker. */
  | { type: "wake" };

export const toWorkerScript: Shapes<ToWorkerScript> = { wake: {} };

/** What the popup shows. */
export interface PopupState {
  type: "state";
  link: "connecting" | "pairing" | "connected" | "refused";
  /** To be compared with the code that Plexus shows; pairing only. */
  code: string;
  /** Why it was refused. */
  text: string;
  extension: string;
  /** Version of Plexus, once connected. */
  plexus: string;
  port: number;
  tabs: number;
}

/** From the popup to the worker. */
export type FromPopup = { type: "retry" };
export const fromPopup: Shapes<FromPopup> = { retry: {} };
