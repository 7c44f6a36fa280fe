// What belongs to this browser and not to the daemon: theme, drafts, widths.

import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

function read(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function write(key: string, value: string): void {
  try {
    if (value === "") localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Storage that is full or forbidden costs the draft, not the page.
  }
}

const stored = read("plexus.theme");

export const theme = signal<Theme>(stored === "light" || stored === "dark" ? stored : "system");

/** Keeps the page's look and the stored choice in step. Returns how to end that. */
export function applyTheme(): () => void {
  return effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
    write("plexus.theme", theme.value === "system" ? "" : theme.value);
  });
}

export const draft = {
  get: (thread: string) => read(`plexus.draft.${thread}`),
  set: (thread: string, text: string) => write(`plexus.draft.${thread}`, text),
};

const folded = new Set(read("plexus.folded").split(" ").filter(Boolean));

export const foldedFolders = signal<ReadonlySet<string>>(folded);

export function toggleFolder(folder: string): void {
  const next = new Set(foldedFolders.value);
  if (!next.delete(folder)) next.add(folder);
  foldedFolders.value = next;
  write("plexus.folded", [...next].join(" "));
}

export const lastFolder = { get: () => read("plexus.folder"), set: (folder: string) => write("plexus.folder", folder) };

export const notify = signal(read("plexus.notify") === "yes");

export function setNotify(on: boolean): void {
  notify.value = on;
  write("plexus.notify", on ? "yes" : "");
}
