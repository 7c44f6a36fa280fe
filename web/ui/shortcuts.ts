// Keys that work everywhere on the page.

import { signal } from "@preact/signals";
import { showWaiting, stop, undoLast } from "./commands.ts";
import { go, route } from "./route.ts";

export const changesOpen = signal(false);
export const helpOpen = signal(false);
export const drawerOpen = signal(false);

export interface Shortcut {
  keys: string;
  what: string;
}

export const shortcuts: readonly Shortcut[] = [
  { keys: "?", what: "Show these shortcuts" },
  { keys: "n", what: "New thread" },
  { keys: "/", what: "Search" },
  { keys: "c", what: "Go to the composer" },
  { keys: "j  k", what: "Next and previous row in a thread; Enter opens it" },
  { keys: "w", what: "Go to the approval that waits" },
  { keys: "y  a  n", what: "In an approval: allow once, always allow, deny" },
  { keys: "d", what: "Show what changed" },
  { keys: "z", what: "Undo what was just deleted or archived" },
  { keys: "Ctrl+.", what: "Stop what is running" },
  { keys: "Up", what: "In an empty composer: earlier messages" },
  { keys: "Esc", what: "Leave a field or close what is open" },
];

/** Listens until the signal. Keys that are typed into a field are left alone. */
export function watchKeys(signal: AbortSignal): void {
  addEventListener("keydown", take, { signal });
}

function take(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const target = event.target instanceof HTMLElement ? event.target : document.body;
  if ((event.ctrlKey || event.metaKey) && event.key === ".") {
    if (route.value.page === "thread") void stop(route.value.id);
    event.preventDefault();
    return;
  }
  const typing = target.matches("input, textarea, select, [contenteditable]");
  if (event.key === "Escape") {
    if (drawerOpen.value) drawerOpen.value = false;
    else if (typing) target.blur();
    return;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (run(event.key)) event.preventDefault();
}

function run(key: string): boolean {
  switch (key) {
    case "?":
      helpOpen.value = true;
      return true;
    case "n":
      go({ page: "new", folder: "" });
      return true;
    case "/":
      drawerOpen.value = narrow();
      setTimeout(() => focus("search"), 50); // after the drawer is there
      return true;
    case "c":
      return focus("composer");
    case "j":
      return step(1);
    case "k":
      return step(-1);
    case "w":
      showWaiting();
      return true;
    case "d":
      changesOpen.value = !changesOpen.value;
      return true;
    case "z":
      undoLast();
      return true;
    default:
      return false;
  }
}

function narrow(): boolean {
  return matchMedia("(max-width: 820px)").matches;
}

function focus(id: string): boolean {
  const el = document.getElementById(id);
  el?.focus();
  return el !== null;
}

/** Moves the focus among the rows of the timeline. */
function step(by: number): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(".timeline [data-row], .timeline .approval")];
  if (rows.length === 0) return false;
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const to = at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by));
  rows[to]?.focus();
  rows[to]?.scrollIntoView({ block: "nearest" });
  return true;
}
