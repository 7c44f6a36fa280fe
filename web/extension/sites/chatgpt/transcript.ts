import type { ShownMessage } from "../site";
import { renderedText } from "./rendered";

const message = "[data-message-author-role]";
/** A user's message is shown as it was typed, in here. */
const typed = ".whitespace-pre-wrap";
const answer = ".markdown";

/** A turn may have several parts of one role. */
const partsPerMessage = 3;

/** Of the parts of one turn that have the same role, the longest stands. */
export function messages(doc: Document, newest = Infinity): ShownMessage[] {
  const shown: ShownMessage[] = [];
  let turn: Element | null = null;
  const nodes = [...doc.querySelectorAll(message)];
  for (const node of nodes.slice(-newest * partsPerMessage)) {
    const role = node.getAttribute("data-message-author-role");
    if (role !== "user" && role !== "assistant") continue;
    if (node.closest("[hidden]") !== null) continue; // a page that is kept and not shown
    const next = { id: node.getAttribute("data-message-id") ?? "", role, text: role === "user" ? askedText(node) : answerText(node) } as const;
    const within = node.closest("[data-turn-id], [data-testid^='conversation-turn-']");
    const last = shown.at(-1);
    if (last !== undefined && within !== null && within === turn && last.role === next.role) {
      if (next.text.length > last.text.length) shown[shown.length - 1] = next;
      continue;
    }
    turn = within;
    shown.push(next);
  }
  return newest === Infinity ? shown : shown.slice(-newest);
}

function askedText(node: Element): string {
  const parts = [...node.querySelectorAll(typed)];
  return parts.length > 0 ? parts.map((p) => p.textContent ?? "").join("\n") : renderedText(node);
}

function answerText(node: Element): string {
  return renderedText(node.querySelector(answer) ?? node);
}
