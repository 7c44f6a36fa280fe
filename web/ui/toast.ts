// Short words about what was just done, with a way back where there is one.

import { signal } from "@preact/signals";
import { ApiError } from "./api.ts";

export interface Toast {
  id: number;
  tone: "info" | "error";
  text: string;
  todo?: string;
  action?: { label: string; run: () => void };
}

export const toasts = signal<readonly Toast[]>([]);

let next = 1;

export function say(toast: Omit<Toast, "id">): void {
  const id = next++;
  toasts.value = [...toasts.value.slice(-3), { ...toast, id }];
  setTimeout(() => dismiss(id), toast.tone === "error" ? 15_000 : 8_000);
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((t) => t.id !== id);
}

export function sayError(err: unknown): void {
  if (err instanceof DOMException && err.name === "AbortError") return;
  if (err instanceof ApiError) say({ tone: "error", text: err.message, todo: err.todo });
  else say({ tone: "error", text: err instanceof Error ? err.message : String(err) });
}
