// What a person can tell Plexus to do. Each says in a toast when it failed and what then.

import * as api from "./api.ts";
import { lastFolder } from "./prefs.ts";
import { go, route } from "./route.ts";
import * as state from "./state.ts";
import { dismiss, say, sayError, toasts } from "./toast.ts";
import type { Approval, Thread } from "../protocol/api.ts";

/** Runs it and says a failure; resolves to whether it went well. */
export async function attempt(what: () => Promise<unknown>): Promise<boolean> {
  try {
    await what();
    return true;
  } catch (err) {
    sayError(err);
    return false;
  }
}

async function patch(thread: Thread, change: api.ThreadPatch): Promise<boolean> {
  const before = thread;
  state.putThread({ ...thread, ...change });
  const done = await attempt(async () => state.putThread(await api.patchThread(thread.id, change)));
  if (!done) state.putThread(before);
  return done;
}

export const rename = (thread: Thread, title: string) => patch(thread, { title });
export const pin = (thread: Thread, pinned: boolean) => patch(thread, { pinned });
export const setThreadLevel = (thread: Thread, level: string) => patch(thread, { level });
export const setThreadModel = (thread: Thread, model: string) => patch(thread, { model });

export async function archive(thread: Thread, archived: boolean): Promise<void> {
  if (!(await patch(thread, { archived }))) return;
  if (archived) {
    leave(thread.id);
    say({ tone: "info", text: `Archived “${titleOf(thread)}”.`, action: { label: "Undo", run: () => void patch(thread, { archived: false }) } });
  }
}

/** Moves the thread to the bin; the toast takes it back. */
export async function remove(thread: Thread): Promise<void> {
  if (!(await attempt(async () => state.putThread(await api.deleteThread(thread.id))))) return;
  leave(thread.id);
  say({
    tone: "info",
    text: `Deleted “${titleOf(thread)}”. It stays in the bin for a while.`,
    action: {
      label: "Undo",
      run: () => void takeBack(thread),
    },
  });
}

export const takeBack = (thread: Thread) =>
  attempt(async () => state.putThread(await api.patchThread(thread.id, { deleted: false })));

function leave(id: string): void {
  if (route.value.page === "thread" && route.value.id === id) go({ page: "home" });
}

export function titleOf(thread: Thread | undefined): string {
  return thread?.title || "New thread";
}

/** Makes a thread with its first task and opens it. Resolves to whether it went well. */
export async function start(thread: api.NewThread): Promise<boolean> {
  return attempt(async () => {
    const made = await api.createThread(thread);
    lastFolder.set(thread.folder);
    state.putThread(made);
    go({ page: "thread", id: made.id });
  });
}

export const send = (thread: string, text: string) => attempt(() => api.sendTask(thread, text));
export const stop = (thread: string) => attempt(() => api.stopThread(thread));

export async function decide(approval: Approval, decision: api.Decision, reason: string): Promise<boolean> {
  return attempt(async () => {
    try {
      state.putApproval(await api.answerApproval(approval.id, decision, reason));
    } catch (err) {
      // Somebody else was first: their answer stands, and the list is read anew.
      void state.refreshApprovals();
      throw err;
    }
  });
}

/** Marks what is shown as read. Failing costs nothing but the mark. */
export function markRead(thread: Thread, seq: number): void {
  if (seq <= thread.readSeq) return;
  state.putThread({ ...thread, readSeq: seq });
  api.patchThread(thread.id, { readSeq: seq }).then(state.putThread, () => undefined);
}

/** Goes to the oldest approval that waits and puts the focus on it. */
export function showWaiting(): void {
  const first = state.waiting.value[0];
  if (!first) return;
  // A call from the command line belongs to no thread; the start shows all that waits.
  go(first.thread ? { page: "thread", id: first.thread } : { page: "home" });
  focusWhenThere(`approval-${first.id}`);
}

function focusWhenThere(id: string): void {
  const found = () => {
    const el = document.getElementById(id);
    el?.focus();
    el?.scrollIntoView({ block: "center" });
    return el !== null;
  };
  if (found()) return;
  const observer = new MutationObserver(() => {
    if (found()) observer.disconnect();
  });
  observer.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => observer.disconnect(), 5_000);
}

export function undoLast(): void {
  const toast = toasts.value.findLast((t) => t.action);
  if (!toast?.action) return;
  toast.action.run();
  dismiss(toast.id);
}
