import type { ComposerState } from "../site";

/** The box has this id from the first paint on; only the editor is editable in itself. */
const box = "#prompt-textarea";
const form = "form[data-chatgpt-composer], form:has(#prompt-textarea)";

/** Words by which a stop button that has no test id is known, and by which others are told from it. */
const stopWords = /\bstop\b|停止|arrêter|detener|stoppen|остановить/i;
const notStop = /dictat|voice|read|record|speech/i;
const removeWords = /^remove\b.*(attachment|file|pasted text)|^remove file\b/i;

/** Whether a node is in a part of the page that is kept and not shown. What lies under an open dialog is not: aria-hidden says nothing. */
function isKept(node: Element): boolean {
  return node.closest("[hidden]") !== null;
}

/** The editor's node, null before the app has put it there. */
export function editor(doc: Document): HTMLElement | null {
  const nodes = doc.querySelectorAll<HTMLElement>(`${box}[contenteditable="true"], .ProseMirror[contenteditable="true"][data-virtualkeyboard]`);
  for (const node of nodes) {
    if (!isKept(node)) return node;
  }
  return null;
}

export function composerState(doc: Document): ComposerState {
  if (editor(doc) !== null) return "ready";
  const placeholder = [...doc.querySelectorAll<HTMLElement>(box)].find((node) => !isKept(node));
  if (placeholder === undefined) return "missing";
  return placeholder.getAttribute("contenteditable") === "false" ? "disabled" : "hydrating";
}

function composerForm(doc: Document): HTMLElement | null {
  return editor(doc)?.closest("form") ?? [...doc.querySelectorAll<HTMLElement>(form)].find((f) => !isKept(f)) ?? null;
}

export function sendButton(doc: Document): HTMLButtonElement | null {
  const within = composerForm(doc);
  for (const selector of ['button[data-testid="send-button"]', 'button[data-testid="fruitjuice-send-button"]', 'button[aria-label="Send prompt"]']) {
    const found = within?.querySelector<HTMLButtonElement>(selector);
    if (found) return found;
  }
  // The same slot holds the stop button while an answer is generated.
  const slot = within?.querySelector<HTMLButtonElement>("button#composer-submit-button") ?? null;
  return slot !== null && slot !== stopButton(doc) ? slot : null;
}

export function stopButton(doc: Document): HTMLButtonElement | null {
  const within = composerForm(doc);
  const tested = within?.querySelector<HTMLButtonElement>('button[data-testid="stop-button"], button[data-testid="composer-stop-button"]');
  if (tested) return tested;
  for (const button of within?.querySelectorAll<HTMLButtonElement>("button[aria-label]") ?? []) {
    const label = button.getAttribute("aria-label") ?? "";
    if (stopWords.test(label) && !notStop.test(label)) return button;
  }
  return null;
}

export function attachmentRemovers(doc: Document): HTMLElement[] {
  const buttons = composerForm(doc)?.querySelectorAll<HTMLElement>("button[aria-label]") ?? [];
  return [...buttons].filter((b) => removeWords.test(b.getAttribute("aria-label") ?? ""));
}
