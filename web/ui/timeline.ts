// The timeline of a thread, folded from its events. Pure: the same set of
// events gives the same timeline in whatever order pages of them arrive, because every
// record keeps the number of the event that it came from and only a
// later one replaces it.

import type { ThreadEvent } from "./event.ts";
import type { Action, Answer, Approval, Change, Message, Note, Notice, Turn } from "../protocol/api.ts";
import { inputText, readKept, readResult } from "./result.ts";

interface Placed {
  /** Unique in its turn and stable, for keyed lists. */
  key: string;
  /** Number of the first event of it: its place in the turn. */
  seq: number;
  /** Number of the event that it shows. */
  rev: number;
  time: string;
}

export type Item = Placed &
  (
    | { kind: "message"; message: Message }
    | { kind: "note"; note: Note }
    | { kind: "action"; action?: Action; approval?: Approval; approvalRev: number }
    | { kind: "answer"; answer: Answer }
    | { kind: "notice"; notice: Notice }
  );

export type ActionItem = Extract<Item, { kind: "action" }>;

/** A turn and what happened in it; id "" for notices that belong to no turn. */
export interface TurnBlock {
  key: string;
  id: string;
  seq: number;
  rev: number;
  turn?: Turn;
  items: readonly Item[];
  /** Where it stands among the others, in milliseconds. */
  at: number;
}

export interface Timeline {
  /** Oldest and newest event folded in; 0 when empty. */
  first: number;
  last: number;
  /** Everything before `first` has been asked for and there is nothing. */
  complete: boolean;
  blocks: readonly TurnBlock[];
}

export const emptyTimeline: Timeline = { first: 0, last: 0, complete: true, blocks: [] };

/** Folds events into the timeline. Repeats do nothing. Blocks that did not change keep their identity. */
export function fold(timeline: Timeline, events: readonly ThreadEvent[]): Timeline {
  if (events.length === 0) return timeline;
  const draft = new Draft(timeline);
  for (const event of events) draft.add(event);
  return draft.end();
}

class Draft {
  private first: number;
  private last: number;
  private readonly blocks = new Map<string, TurnBlock>();
  /** Blocks that were copied for this draft, with the places of their items. */
  private readonly touched = new Map<string, Map<string, number>>();
  private moved = false;

  constructor(private readonly from: Timeline) {
    this.first = from.first;
    this.last = from.last;
    for (const b of from.blocks) this.blocks.set(b.key, b);
  }

  add(event: ThreadEvent): void {
    this.first = this.first === 0 ? event.seq : Math.min(this.first, event.seq);
    this.last = Math.max(this.last, event.seq);
    if (event.kind === "thread") return;
    if (event.kind === "turn") {
      const block = this.block(event.body.id, event);
      if (event.seq > block.rev) {
        block.rev = event.seq;
        block.turn = event.body;
      }
      return;
    }
    const block = this.block(event.turn, event);
    const items = new Places(block.items as Item[], this.touched.get(block.key)!);
    switch (event.kind) {
      case "action":
        items.action(event.body.id, event, (item) => {
          if (event.seq > item.rev) {
            item.rev = event.seq;
            item.action = event.body;
          }
        });
        break;
      case "approval":
        items.action(event.body.action, event, (item) => {
          if (event.seq > item.approvalRev) {
            item.approvalRev = event.seq;
            item.approval = event.body;
          }
        });
        break;
      case "message":
        items.put(event, { kind: "message", message: event.body, key: `message:${event.body.id}` });
        break;
      case "answer":
        items.put(event, { kind: "answer", answer: event.body, key: `answer:${event.body.message}` });
        break;
      case "note":
        items.put(event, { kind: "note", note: event.body, key: `note:${event.seq}` });
        break;
      case "notice":
        items.put(event, { kind: "notice", notice: event.body, key: `notice:${event.seq}` });
        break;
    }
  }

  end(): Timeline {
    const blocks = [...this.blocks.values()];
    for (const b of blocks) {
      if (!this.touched.has(b.key)) continue;
      (b.items as Item[]).sort((x, y) => x.seq - y.seq);
      const at = startOf(b);
      if (at !== b.at) this.moved = true;
      b.at = at;
    }
    if (this.moved) blocks.sort((x, y) => x.at - y.at || x.seq - y.seq);
    return { ...this.from, first: this.first, last: this.last, blocks };
  }

  /** Returns the block to change, copied once per draft. */
  private block(turn: string, event: ThreadEvent): TurnBlock {
    const key = turn || `loose:${event.seq}`;
    const old = this.blocks.get(key);
    if (old !== undefined && this.touched.has(key)) {
      old.seq = Math.min(old.seq, event.seq);
      return old;
    }
    const fresh: TurnBlock = old
      ? { ...old, items: [...old.items], seq: Math.min(old.seq, event.seq) }
      : { key, id: turn, seq: event.seq, rev: 0, items: [], at: Date.parse(event.time) || 0 };
    if (!old) this.moved = true;
    this.blocks.set(key, fresh);
    this.touched.set(key, new Map(fresh.items.map((item, i) => [item.key, i])));
    return fresh;
  }
}

function startOf(block: TurnBlock): number {
  const began = block.turn?.started ?? block.turn?.created ?? block.items[0]?.time ?? "";
  return Date.parse(began) || block.at;
}

type NewItem = { key: string } & (
  | { kind: "message"; message: Message }
  | { kind: "note"; note: Note }
  | { kind: "answer"; answer: Answer }
  | { kind: "notice"; notice: Notice }
);

/** The items of a block in a draft: unsorted, found by key. */
class Places {
  constructor(
    private readonly items: Item[],
    private readonly places: Map<string, number>,
  ) {}

  put(event: ThreadEvent, item: NewItem): void {
    const at = this.places.get(item.key) ?? -1;
    const old = this.items[at];
    if (old === undefined) this.append({ ...item, seq: event.seq, rev: event.seq, time: event.time });
    else if (event.seq > old.rev) {
      this.items[at] = { ...item, seq: Math.min(old.seq, event.seq), rev: event.seq, time: old.time };
    } else if (event.seq < old.seq) this.items[at] = { ...old, seq: event.seq, time: event.time };
  }

  action(id: string, event: ThreadEvent, change: (item: ActionItem) => void): void {
    const key = `action:${id}`;
    const at = this.places.get(key) ?? -1;
    const old = this.items[at];
    const item: ActionItem =
      old !== undefined && old.kind === "action"
        ? { ...old, seq: Math.min(old.seq, event.seq) }
        : { kind: "action", key, seq: event.seq, rev: 0, approvalRev: 0, time: event.time };
    change(item);
    if (at < 0) this.append(item);
    else this.items[at] = item;
  }

  private append(item: Item): void {
    this.places.set(item.key, this.items.length);
    this.items.push(item);
  }
}

/** Whether no more can happen in the turn by itself. */
export function isFinal(turn: Turn): boolean {
  return turn.state === "answered" || turn.state === "failed" || turn.state === "stopped";
}

/** The turn in flight, if any. */
export function turnInFlight(timeline: Timeline): Turn | undefined {
  for (let i = timeline.blocks.length - 1; i >= 0; i--) {
    const turn = timeline.blocks[i]?.turn;
    if (turn && turn.state !== "queued" && !isFinal(turn)) return turn;
  }
  return undefined;
}

/** The turns that wait, in the order in which they will run. */
export function queuedTurns(timeline: Timeline): Turn[] {
  const turns: Turn[] = [];
  for (const b of timeline.blocks) if (b.turn?.state === "queued") turns.push(b.turn);
  return turns.sort((x, y) => x.position - y.position);
}

/** The newest action that runs now. */
export function runningAction(block: TurnBlock): Action | undefined {
  for (let i = block.items.length - 1; i >= 0; i--) {
    const item = block.items[i];
    if (item?.kind === "action" && item.action?.state === "running") return item.action;
  }
  return undefined;
}

/** One file that the thread changed, and every change of it, oldest first. */
export interface ChangedFile {
  path: string;
  added: number;
  removed: number;
  changes: { action: string; change: Change }[];
}

function changesOf(action: Action): readonly Change[] {
  if (readKept(action.result) !== null && action.tool === "write") {
    // The diff is too large for an event: the file is named all the same.
    return [{ path: inputText(action.input, "path") || action.title.replace(/^\S+ /, ""), op: "modify", added: 0, removed: 0, cut: true }];
  }
  return readResult(action.result)?.changes ?? [];
}

/** The files that the loaded part of the thread changed, by path. */
export function changedFiles(timeline: Timeline): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const block of timeline.blocks) {
    for (const item of block.items) {
      if (item.kind !== "action" || item.action?.state !== "done") continue;
      for (const change of changesOf(item.action)) {
        let file = files.get(change.path);
        if (!file) files.set(change.path, (file = { path: change.path, added: 0, removed: 0, changes: [] }));
        file.added += change.added;
        file.removed += change.removed;
        file.changes.push({ action: item.action.id, change });
      }
    }
  }
  return [...files.values()].sort((x, y) => (x.path < y.path ? -1 : 1));
}
