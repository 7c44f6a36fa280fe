import type { ThreadEvent } from "../event.ts";
import { changedFiles, emptyTimeline, fold, queuedTurns, runningAction, turnInFlight } from "../timeline.ts";
import { readEvent } from "../event.ts";
import { equal, numbers, ok, test } from "./check.ts";

let clock = 0;
let seq = 0;

function event(kind: string, turn: string, body: object): ThreadEvent {
  seq++;
  clock += 1000;
  const e = readEvent({ id: 100 + seq, thread: "t", seq, turn, time: time(clock), kind, body });
  if (!e) throw new Error("the test's own event is not readable");
  return e;
}

function time(ms: number): string {
  return new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
}

function turn(id: string, state: string, more: object = {}): ThreadEvent {
  return event("turn", id, { id, thread: "t", task: `task ${id}`, state, round: 0, position: 0, since: time(clock), created: time(clock), ...more });
}

const action = (id: string, state: string, more: object = {}) =>
  event("action", "u1", { id, tool: "run", title: id, folder: "f", input: {}, door: "chat", state, created: time(clock), ...more });

function story(): ThreadEvent[] {
  clock = seq = 0;
  const began = time(1000);
  const change = (path: string, added: number) => ({ status: "ok", outcome: "ok", text: "", ms: 1, changes: [{ path, op: "modify", added, removed: 1, diff: "d" }] });
  return [
    event("thread", "", { id: "t" }),
    turn("u1", "queued"),
    turn("u1", "composing", { started: began }),
    event("message", "u1", { id: "m1", kind: "user", text: "hi", delivery: "" }),
    event("message", "u1", { id: "m1", kind: "user", text: "hi", delivery: "accepted" }),
    turn("u2", "queued", { position: 2 }),
    turn("u3", "queued", { position: 1 }),
    event("note", "u1", { message: "m2", round: 1, text: "looking" }),
    action("a1", "intended"),
    action("a1", "waiting"),
    event("approval", "u1", { id: "p1", action: "a1", state: "pending", reasons: null }),
    event("approval", "u1", { id: "p1", action: "a1", state: "allowed", reasons: null }),
    action("a1", "running"),
    action("a1", "done", { result: change("b.go", 2) }),
    action("a2", "done", { result: change("a.go", 1) }),
    action("a3", "done", { result: change("b.go", 5) }),
    event("notice", "", { code: "x", tone: "info", text: "loose" }),
    event("answer", "u1", { message: "m3", text: "done" }),
    turn("u1", "answered", { started: began, ended: time(clock) }),
  ];
}

test("timeline: one record shows its newest state, where it first was", () => {
  const t = fold(emptyTimeline, story());
  const u1 = t.blocks.find((b) => b.id === "u1");
  equal(u1?.items.map((i) => i.key), ["message:m1", "note:8", "action:a1", "action:a2", "action:a3", "answer:m3"]);
  equal(u1?.turn?.state, "answered");
  const a1 = u1?.items.find((i) => i.key === "action:a1");
  ok(a1?.kind === "action" && a1.action?.state === "done" && a1.approval?.state === "allowed", "the action is done, its approval answered");
  equal([t.first, t.last], [1, 19]);
});

test("timeline: any order and any pages give the same", () => {
  const events = story();
  const want = fold(emptyTimeline, events);
  for (let seed = 1; seed <= 60; seed++) {
    const next = numbers(seed);
    const left = [...events];
    let t = emptyTimeline;
    while (left.length > 0) {
      const page: ThreadEvent[] = [];
      for (let n = 1 + next(5); n > 0 && left.length > 0; n--) page.push(...left.splice(next(left.length), 1));
      t = fold(t, page);
      if (next(3) === 0) t = fold(t, page);
    }
    equal(strip(t), strip(want), `seed ${seed}`);
  }
});

/** Without the time of the first event, which a page that has not loaded it cannot know. */
function strip(t: typeof emptyTimeline): unknown {
  return { ...t, blocks: t.blocks.map((b) => ({ ...b, items: b.items.map((i) => ({ ...i, time: "" })) })) };
}

test("timeline: what did not change keeps its identity", () => {
  const events = story();
  const before = fold(emptyTimeline, events);
  const after = fold(before, [turn("u2", "composing", { started: time(clock) })]);
  const block = (t: typeof before, id: string) => t.blocks.find((b) => b.id === id);
  ok(block(before, "u1") === block(after, "u1"), "u1 is the same block");
  ok(block(before, "u2") !== block(after, "u2"), "u2 is a new block");
  equal(block(before, "u2")?.turn?.state, "queued");
});

test("timeline: an approval that came before its action is shown, and joined", () => {
  seq = 0;
  const later = event("approval", "u1", { id: "p", action: "a", state: "pending", reasons: [] });
  const t = fold(emptyTimeline, [later]);
  const item = t.blocks[0]?.items[0];
  ok(item?.kind === "action" && item.action === undefined && item.approval !== undefined, "an item with the approval alone");
  const joined = fold(t, [action("a", "waiting")]);
  equal(joined.blocks[0]?.items.length, 1);
});

test("timeline: the queue in the order in which it will run", () => {
  const t = fold(emptyTimeline, story());
  equal(queuedTurns(t).map((q) => q.id), ["u3", "u2"]);
  equal(turnInFlight(t), undefined);
});

test("timeline: what runs now", () => {
  const t = fold(emptyTimeline, story().slice(0, 13));
  equal(turnInFlight(t)?.id, "u1");
  const block = t.blocks.find((b) => b.id === "u1");
  equal(block && runningAction(block)?.id, "a1");
});

test("timeline: changed files by path, with every change", () => {
  const files = changedFiles(fold(emptyTimeline, story()));
  equal(files.map((f) => [f.path, f.added, f.removed, f.changes.length]), [
    ["a.go", 1, 1, 1],
    ["b.go", 7, 2, 2],
  ]);
});

test("timeline: garbage is no event", () => {
  for (const v of [null, 1, "x", [], {}, { seq: 1, kind: "note" }, { seq: "1", kind: "note", body: {} }, { seq: 1, kind: "later", body: {} }]) {
    equal(readEvent(v), null);
  }
});

test("timeline: a result that is no result hides nothing else", () => {
  seq = 0;
  const odd = [null, "x", { asset: "h", bytes: 9, head: "h" }, { status: "new-status", changes: [{ path: 5 }, null] }];
  const t = fold(emptyTimeline, odd.map((result, i) => action(`a${i}`, "done", { result })));
  equal(changedFiles(t), []);
  equal(t.blocks[0]?.items.length, odd.length);
});

test("timeline: ten thousand events of one turn fold in one go and one by one", () => {
  seq = clock = 0;
  const events = [turn("u1", "acting", { started: time(0) })];
  for (let i = 0; i < 10_000; i++) events.push(action(`a${i >> 1}`, i % 2 ? "done" : "running"));
  const t = fold(emptyTimeline, events);
  equal(t.blocks[0]?.items.length, 5000);
  let one = fold(emptyTimeline, events.slice(0, -50));
  for (const e of events.slice(-50)) one = fold(one, [e]);
  equal(one.blocks[0]?.items.length, 5000);
});
