import type { ShownMessage, Site } from "../sites/site";
import { bare, type Clock } from "./wait";

const every = 500;
const longest = 180_000;

/** The end of a reply in the grammar: a closed tag, or one that closes itself. Pages may show quotes and dashes in their own way. */
const closed = /(?:[{<‹⟨«〈]\s*\/\s*plx\s*:\s*\w+\s*[}>›⟩»〉]|[{<‹⟨«〈]\s*plx\s*:[^{}]*\/[}>›⟩»〉])[\s`*_]*$/iu;

/** Which message of ours a reply is looked for under. */
export interface Asked {
  messageId: string;
  text: string;
}

function letters(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, "");
}

function isOurs(message: ShownMessage, asked: Asked): boolean {
  if (message.role !== "user") return false;
  if (asked.messageId !== "") return message.id === asked.messageId;
  if (asked.text === "") return false;
  return bare(message.text) === bare(asked.text) || (letters(asked.text) !== "" && letters(message.text) === letters(asked.text));
}

/** Whether our message is in the transcript. */
export function isThere(site: Site, asked: Asked): boolean {
  return site.messages(document).some((m) => isOurs(m, asked));
}

/** The complete reply below our message, null when there is none yet. */
export function reply(site: Site, asked: Asked): string | null {
  if (site.stopButton(document) !== null) return null;
  const shown = site.messages(document);
  const at = shown.findLastIndex((m) => isOurs(m, asked));
  if (at < 0) return null;
  const parts: string[] = [];
  for (const message of shown.slice(at + 1)) {
    if (message.role === "user") break;
    parts.push(message.text);
  }
  const text = parts.join("\n\n");
  return closed.test(text) ? text : null;
}

/** Looks every 500 ms, for 3 minutes at most. Resolves to null when nothing complete appeared. */
export async function recover(site: Site, asked: Asked, clock: Clock, signal: AbortSignal): Promise<string | null> {
  for (let waited = 0; waited < longest && !signal.aborted; waited += every) {
    const text = reply(site, asked);
    if (text !== null) return text;
    await clock.sleep(every, signal);
  }
  return null;
}
