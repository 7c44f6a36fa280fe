// What the page knows, in signals. Components read them; the functions here
// and in commands.ts are the only ones that write them.

import { batch, computed, effect, signal } from "@preact/signals";
import * as api from "./api.ts";
import { readEvent, type ThreadEvent } from "./event.ts";
import { notice as notifyDesktop } from "./notify.ts";
import { route } from "./route.ts";
import { token } from "./session.ts";
import { follow, type StreamState } from "./sse.ts";
import { ThreadFeed } from "./thread-feed.ts";
import type { Approval, Folder, Thread } from "../protocol/api.ts";

/** Whether this tab holds a bearer; "refused" says why the key in the address was not taken. */
export const access = signal<{ ok: true } | { ok: false; text: string }>({ ok: true });

/** The stream over all threads; its state is the page's link to the daemon. */
export const link = signal<StreamState>({ state: "connecting" });

export const server = signal<api.ServerState | null>(null);
export const serverError = signal<api.ApiError | null>(null);
export const threads = signal<ReadonlyMap<string, Thread>>(new Map());
export const threadsLoaded = signal(false);
/** Which threads the list shows. */
export const shownList = signal<api.ThreadList>("active");
export const approvals = signal<ReadonlyMap<string, Approval>>(new Map());
export const sendKey = signal<"ctrl-enter" | "enter">("ctrl-enter");

export const folders = computed<readonly Folder[]>(() => server.value?.folders ?? []);

export function folderOf(id: string): Folder | undefined {
  return folders.value.find((f) => f.id === id);
}

/** The thread that is open. */
export const feed = signal<ThreadFeed | null>(null);

/** Approvals that wait, oldest first. */
export const waiting = computed(() =>
  [...approvals.value.values()].filter((a) => a.state === "pending").sort((x, y) => (x.created < y.created ? -1 : 1)),
);

/** A daemon of another version answers than the one that served this page. */
export const updated = signal(false);

/** Takes a thread's row; one that is older than what is known does nothing, as answers can overtake each other. */
export function putThread(thread: Thread): void {
  const next = new Map(threads.value);
  next.set(thread.id, newer(next.get(thread.id), thread));
  threads.value = next;
}

function newer(known: Thread | undefined, thread: Thread): Thread {
  if (!known) return thread;
  if (known.lastSeq > thread.lastSeq) return known;
  return known.readSeq > thread.readSeq ? { ...thread, readSeq: known.readSeq } : thread;
}

export function dropThread(id: string): void {
  const next = new Map(threads.value);
  next.delete(id);
  threads.value = next;
}

export function putApproval(approval: Approval): void {
  const next = new Map(approvals.value);
  if (approval.state === "pending") next.set(approval.id, approval);
  else next.delete(approval.id);
  approvals.value = next;
}

export async function refreshServer(): Promise<void> {
  try {
    const state = await api.getState();
    if (server.value && server.value.version !== state.version) updated.value = true;
    batch(() => {
      // The same again shows nothing anew.
      if (!server.value || signature(server.value) !== signature(state)) server.value = state;
      serverError.value = null;
    });
  } catch (err) {
    if (err instanceof api.ApiError) serverError.value = err;
  }
}

function signature(state: api.ServerState): string {
  const browsers = state.browsers.map((b) => ({ ...b, lastSeen: b.connected ? "" : b.lastSeen }));
  return JSON.stringify({ ...state, browsers, lastEvent: 0 });
}

export async function refreshThreads(): Promise<void> {
  const active = await api.getThreads("active").catch(() => null);
  const others = shownList.value === "active" ? [] : await api.getThreads(shownList.value).catch(() => []);
  if (!active) return;
  const known = threads.peek();
  const open = feed.peek() ? known.get(feed.peek()!.id) : undefined;
  batch(() => {
    threads.value = new Map([...(open ? [open] : []), ...others, ...active].map((t) => [t.id, newer(known.get(t.id), t)]));
    threadsLoaded.value = true;
  });
}

export async function refreshApprovals(): Promise<void> {
  const list = await api.getApprovals().catch(() => null);
  if (list) approvals.value = new Map(list.map((a) => [a.id, a]));
}

async function refreshSendKey(): Promise<void> {
  const settings = await api.getSettings().catch(() => []);
  const found = settings.find((s) => s.key === "ui.send-key");
  if (found) sendKey.value = found.value === "enter" ? "enter" : "ctrl-enter";
}

/** Fetches a thread's row soon; many asks in a short time make one. */
const stale = new Set<string>();
let staleTimer = 0;

export function refreshThread(id: string): void {
  stale.add(id);
  if (staleTimer !== 0) return;
  staleTimer = setTimeout(() => {
    const ids = [...stale];
    stale.clear();
    staleTimer = 0;
    for (const one of ids) {
      api
        .getThread(one)
        .then(putThread)
        .catch((err: unknown) => {
          if (err instanceof api.ApiError && err.status === 404) dropThread(one);
        });
    }
  }, 250);
}

function takeEvent(event: ThreadEvent): void {
  switch (event.kind) {
    case "thread":
      putThread({ ...event.body, lastSeq: Math.max(event.body.lastSeq, event.seq) });
      break;
    case "turn": {
      const { state } = event.body;
      const row = threads.value.get(event.thread);
      const final = state === "answered" || state === "failed" || state === "stopped";
      if (row) putThread({ ...row, lastSeq: Math.max(row.lastSeq, event.seq), state: final ? "idle" : state === "queued" ? row.state : state });
      if (final || state === "queued" || !row) refreshThread(event.thread);
      if (final) notifyDesktop(event.thread, row?.title ?? "Plexus", state === "answered" ? "Answered" : `The turn ${state}`);
      break;
    }
    case "approval":
      putApproval(event.body);
      if (event.body.state === "pending") remindOf(event.body);
      break;
  }
}

/** Says on the desktop that an approval waits, when nobody looked for half a minute. */
function remindOf(approval: Approval): void {
  setTimeout(() => {
    if (approvals.value.has(approval.id)) notifyDesktop(approval.thread ?? "", "Plexus waits for your approval", approval.title);
  }, 30_000);
}

/** Follows the daemon until the signal: loads everything, keeps it current. */
export function watchServer(signal: AbortSignal): void {
  let last = -1;
  let streaming: AbortController | null = null;
  const reload = () => void Promise.all([refreshServer(), refreshThreads(), refreshApprovals(), refreshSendKey()]);

  const start = () => {
    if (streaming || signal.aborted || token() === "") return;
    const mine = (streaming = new AbortController());
    signal.addEventListener("abort", () => mine.abort(), { signal: mine.signal });
    void follow({
      signal: mine.signal,
      open: async (attempt) => {
        if (last < 0) last = (await api.getState(attempt)).lastEvent;
        return api.openStream(last, attempt);
      },
      state: (state) => {
        // Whatever changed while nobody listened is read anew.
        if (state.state === "open") reload();
        link.value = state;
      },
      on: (message) => {
        const number = Number(message.id);
        if (message.id !== "" && Number.isFinite(number)) last = number;
        if (message.event !== "event") return;
        const event = readEvent(parse(message.data));
        if (event) takeEvent(event);
      },
    });
  };
  const stop = () => {
    streaming?.abort();
    streaming = null;
  };

  // Browsers allow few connections to a host: of the hidden tabs one keeps its
  // stream, for notifications, and the others let go until they are looked at.
  let held: (() => void) | null = null;
  const shown = () => {
    if (!document.hidden) {
      held?.();
      held = null;
      start();
      return;
    }
    if (!navigator.locks) return stop();
    void navigator.locks.request("plexus.hidden-stream", { ifAvailable: true }, (lock) => {
      if (!lock) return stop();
      return new Promise<void>((release) => (held = release));
    });
  };
  document.addEventListener("visibilitychange", shown, { signal });
  shown();
  start();

  // Pairings and browsers come and go without events.
  const poll = setInterval(() => {
    if (!document.hidden && link.value.state === "open") void refreshServer();
  }, 4_000);
  signal.addEventListener("abort", () => clearInterval(poll), { once: true });
}

/** Opens and closes the feed as the address says. */
export function watchOpenThread(signal: AbortSignal): void {
  const end = effect(() => {
    const id = route.value.page === "thread" ? route.value.id : "";
    const old = feed.peek();
    if (old?.id === id) return;
    old?.close();
    feed.value = id === "" ? null : new ThreadFeed(id, putThread);
    if (id !== "" && !threads.peek().has(id)) refreshThread(id);
  });
  signal.addEventListener("abort", () => {
    end();
    feed.peek()?.close();
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
