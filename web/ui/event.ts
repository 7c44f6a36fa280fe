// Events and updates as the page reads them from the wire.

import type { Action, Answer, Approval, Live, Message, Note, Notice, Thread, Turn } from "../protocol/api.ts";

interface Head {
  id: number;
  thread: string;
  seq: number;
  turn: string;
  time: string;
}

/** An appended record, told apart by its kind. */
export type ThreadEvent = Head &
  (
    | { kind: "thread"; body: Thread }
    | { kind: "turn"; body: Turn }
    | { kind: "message"; body: Message }
    | { kind: "note"; body: Note }
    | { kind: "action"; body: Action }
    | { kind: "approval"; body: Approval }
    | { kind: "answer"; body: Answer }
    | { kind: "notice"; body: Notice }
  );

const kinds: ReadonlySet<string> = new Set([
  "thread",
  "turn",
  "message",
  "note",
  "action",
  "approval",
  "answer",
  "notice",
]);

export function isRecord(v: unknown): v is Record<string, unknown> {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

/** Returns null for what is no event, or one of a kind that this page does not know. */
export function readEvent(v: unknown): ThreadEvent | null {
  if (!isRecord(v) || typeof v["seq"] !== "number" || typeof v["kind"] !== "string") return null;
  if (!kinds.has(v["kind"]) || !isRecord(v["body"])) return null;
  return {
    id: typeof v["id"] === "number" ? v["id"] : 0,
    thread: text(v["thread"]),
    seq: v["seq"],
    turn: text(v["turn"]),
    time: text(v["time"]),
    kind: v["kind"],
    body: v["body"],
  } as unknown as ThreadEvent;
}

/** Returns null for what is no live update. */
export function readLive(v: unknown): Live | null {
  if (!isRecord(v) || typeof v["kind"] !== "string" || typeof v["text"] !== "string") return null;
  return {
    thread: text(v["thread"]),
    turn: text(v["turn"]),
    kind: v["kind"],
    of: text(v["of"]),
    index: typeof v["index"] === "number" ? v["index"] : 0,
    offset: typeof v["offset"] === "number" ? v["offset"] : 0,
    text: v["text"],
  };
}

function text(v: unknown): string {
  return typeof v === "string" ? v : "";
}
