import { MaxWholeData } from "../protocol/link";
import type { HeldTurn } from "./messages";
import type { StreamPiece } from "./page/messages";

/**
 * What a page says passes through a world that scripts of the site share. It is evidence, and it is made to fit the
 * protocol before it goes on: one that does not fit would end the connection for every tab.
 */

export type Piece = Omit<StreamPiece, "type" | "nonce">;

const events: readonly string[] = ["open", "data", "close", "error"] satisfies Piece["event"][];
const sources: readonly string[] = ["fetch", "eventsource", "websocket"] satisfies NonNullable<Piece["source"]>[];
const stages: readonly string[] = ["armed", "dispatched", "posted", "lost"] satisfies HeldTurn["stage"][];
const maxId = 128;
const maxUrl = 2048;
const maxReason = 100;

/** A piece of a stream, null when it is none. */
export function asPiece({ stream, event, source, url, status, data }: Piece): Piece | null {
  if (stream === "" || stream.length > maxId || !events.includes(event)) return null;
  if (event === "open") {
    if (source === undefined || !sources.includes(source)) return null;
    const piece: Piece = { stream, event, source, url: (url ?? "").slice(0, maxUrl) };
    if (status !== undefined && Number.isInteger(status) && status >= 0 && status < 1000) piece.status = status;
    return piece;
  }
  if (event === "close") return { stream, event };
  if (event === "error") return { stream, event, data: (data ?? "").slice(0, maxReason) };
  return data !== undefined && data.length > MaxWholeData ? { stream, event: "error", data: "too-large" } : { stream, event, data: data ?? "" };
}

/** An id that the site gave, "" for what cannot be one. */
export function asId(text: string | undefined): string {
  return text !== undefined && text.length <= maxId ? text : "";
}

/** What a page holds of a turn, undefined for what cannot be that. */
export function asHeld(held: HeldTurn | undefined): HeldTurn | undefined {
  if (held === undefined || typeof held.turn !== "string" || typeof held.send !== "string" || !stages.includes(held.stage)) return undefined;
  if (!Number.isSafeInteger(held.lastN) || held.lastN < 0) return undefined;
  return { ...held, messageId: typeof held.messageId === "string" ? asId(held.messageId) : "" };
}
