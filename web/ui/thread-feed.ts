// One thread as it is followed: its page of events, its stream, its live text.

import { batch, signal } from "@preact/signals";
import * as api from "./api.ts";
import { readEvent, readLive, type ThreadEvent } from "./event.ts";
import { onFrame } from "./frames.ts";
import { LiveState } from "./live.ts";
import { follow, type SseMessage, type StreamState } from "./sse.ts";
import { emptyTimeline, fold } from "./timeline.ts";
import type { Live, Thread } from "../protocol/api.ts";

const page = 300;

type Arrived = { event: ThreadEvent } | { live: Live };

export class ThreadFeed {
  readonly timeline = signal({ ...emptyTimeline, complete: false });
  /** Rises whenever `live` changed, at most once a frame. */
  readonly tick = signal(0);
  readonly live = new LiveState();
  readonly loaded = signal(false);
  readonly error = signal<api.ApiError | null>(null);
  readonly earlier = signal<"idle" | "loading" | "failed">("idle");
  readonly stream = signal<StreamState>({ state: "connecting" });

  private readonly life = new AbortController();
  private streaming: AbortController | null = null;
  private arrived: Arrived[] = [];
  private repairing = false;
  private readonly flushSoon: () => void;

  constructor(
    readonly id: string,
    private readonly onThread: (thread: Thread) => void,
  ) {
    this.flushSoon = onFrame(() => this.flush(), this.life.signal);
    void this.load();
    const watch = () => (document.hidden ? this.pause() : this.resume());
    document.addEventListener("visibilitychange", watch, { signal: this.life.signal });
  }

  /** Ends everything that belongs to the feed. */
  close(): void {
    this.life.abort();
    this.streaming?.abort();
  }

  async load(): Promise<void> {
    this.error.value = null;
    try {
      const events = await api.getEvents(this.id, { before: 0 }, page, this.life.signal);
      batch(() => {
        for (const e of events) this.live.settle(e);
        this.timeline.value = { ...fold(emptyTimeline, events), complete: reachedStart(events) };
        this.loaded.value = true;
      });
      this.resume();
    } catch (err) {
      this.fail(err);
    }
  }

  /** Fetches the page before what is loaded. */
  async loadEarlier(): Promise<void> {
    const { first, complete } = this.timeline.value;
    if (complete || this.earlier.value === "loading") return;
    this.earlier.value = "loading";
    try {
      const events = await api.getEvents(this.id, { before: first }, page, this.life.signal);
      batch(() => {
        this.timeline.value = { ...fold(this.timeline.value, events), complete: reachedStart(events) };
        this.earlier.value = "idle";
      });
    } catch {
      if (!this.life.signal.aborted) this.earlier.value = "failed";
    }
  }

  /** A hidden page keeps no stream: a host has few connections for all tabs. */
  private pause(): void {
    this.streaming?.abort();
    this.streaming = null;
  }

  private resume(): void {
    if (this.streaming || this.life.signal.aborted || !this.loaded.value || document.hidden) return;
    const streaming = (this.streaming = new AbortController());
    void follow({
      signal: streaming.signal,
      open: (signal) => {
        this.flush();
        return api.openThreadStream(this.id, this.timeline.value.last, signal);
      },
      on: (message) => this.take(message),
      state: (state) => (this.stream.value = state),
    });
  }

  private take(message: SseMessage): void {
    let body: unknown;
    try {
      body = JSON.parse(message.data);
    } catch {
      return;
    }
    if (message.event === "event") {
      const event = readEvent(body);
      if (event) this.arrived.push({ event });
    } else if (message.event === "live") {
      const live = readLive(body);
      if (live) this.arrived.push({ live });
    }
    this.flushSoon();
  }

  private flush(): void {
    if (this.arrived.length === 0) return;
    const arrived = this.arrived;
    this.arrived = [];
    const events: ThreadEvent[] = [];
    let changed = false;
    for (const a of arrived) {
      if ("live" in a) {
        changed = true;
        if (!this.live.add(a.live)) void this.repair();
      } else if (a.event.seq > this.timeline.value.last) {
        events.push(a.event);
        changed = true;
        this.live.settle(a.event);
        if (a.event.kind === "thread") this.onThread({ ...a.event.body, lastSeq: Math.max(a.event.body.lastSeq, a.event.seq) });
      }
    }
    batch(() => {
      this.timeline.value = fold(this.timeline.value, events);
      if (changed) this.tick.value++;
    });
  }

  /** Reads the streaming reply anew after a hole; what is known already is dropped by its offset. */
  private async repair(): Promise<void> {
    if (this.repairing) return;
    this.repairing = true;
    try {
      for (const live of await api.getLive(this.id, this.life.signal)) this.live.add(live);
      this.tick.value++;
    } catch {
      // The next update shows the hole again, and with it the next try.
    } finally {
      this.repairing = false;
    }
  }

  private fail(err: unknown): void {
    if (this.life.signal.aborted) return;
    this.error.value = err instanceof api.ApiError ? err : new api.ApiError(0, "internal", String(err), "");
  }
}

function reachedStart(events: readonly ThreadEvent[]): boolean {
  return events.length === 0 || events[0]!.seq <= 1;
}
