import type { ShownMessage } from "../site";
import { renderedText } from "./rendered";

const message = "[data-message-author-role]";
/** A user's message is shown as it was typed, in here. */
const typed = ".whitespace-pre-wrap";
const answer = ".markdown";

/** The messages shown, oldest first. Of the parts of one turn that say the same role, the longest stands. */
export function messages(doc: Document): ShownMessage[] {
  const shown: ShownMessage[] = [];
  let turn: Element | null = null;
  for (const node of doc.querySelectorAll(message)) {
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
  return shown;
}

function askedText(node: Element): string {
  const parts = [...node.querySelectorAll(typed)];
  return parts.length > 0 ? parts.map((p) => p.textContent ?? "").join("\n") : renderedText(node);
}

function answerText(node: Element): string {
  return renderedText(node.querySelector(answer) ?? node);
}
