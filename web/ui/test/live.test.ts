import { readEvent, readLive } from "../event.ts";
import { LiveState } from "../live.ts";
import { StreamText, utf8Length } from "../stream-text.ts";
import type { Live } from "../../protocol/api.ts";
import { equal, numbers, ok, pieces, test } from "./check.ts";

const text = "Grüße 👋 an alle: 日本語, fertig.";

test("utf8Length: as the encoder counts", () => {
  for (const t of ["", "a", "ü", "日", "👋", text, "\ud800", "a\udc00b", "\ud800\ud800"]) {
    equal(utf8Length(t), new TextEncoder().encode(t).length, JSON.stringify(t));
  }
});

/** Deltas as the daemon cuts them: never inside a code point. */
function deltas(seed: number): { offset: number; text: string }[] {
  let offset = 0;
  const out: { offset: number; text: string }[] = [];
  const next = numbers(seed);
  const points = [...text];
  for (const p of pieces("x".repeat(points.length), 4, next)) {
    const t = points.splice(0, p.length).join("");
    out.push({ offset, text: t });
    offset += utf8Length(t);
  }
  return out;
}

test("stream text: repeats and overlaps are dropped, at any cut", () => {
  for (let seed = 1; seed < 40; seed++) {
    const next = numbers(seed);
    const got = new StreamText();
    const all = deltas(seed);
    for (const [i, d] of all.entries()) {
      ok(got.add(d.offset, d.text) !== "gap", "no gap in order");
      const back = all[next(i + 1)]!;
      equal(got.add(back.offset, back.text), "known");
      // A reading anew from the start, up to here.
      const soFar = all.slice(0, i + 1).map((x) => x.text).join("");
      equal(got.add(0, soFar), "known");
    }
    equal(got.toString(), text);
  }
});

test("stream text: a text from the start fills what a hole left out", () => {
  const got = new StreamText();
  got.add(0, "Grü");
  equal(got.add(20, "later"), "gap");
  equal(got.toString(), "Grü");
  equal(got.add(0, text), "added");
  equal(got.toString(), text);
});

const live = (kind: string, of: string, offset: number, t: string, index = 0): Live => ({ thread: "t", turn: "u", kind, of, index, offset, text: t });
const event = (kind: string, body: object) => readEvent({ seq: 1, kind, turn: "u", body })!;

test("live: notes and answer of a reply stand until their events come", () => {
  const state = new LiveState();
  state.add(live("note", "m", 0, "one", 0));
  state.add(live("note", "m", 0, "two", 1));
  state.add(live("action", "m", 0, "run", 0));
  state.add(live("answer", "m", 0, "ans"));
  equal([...state.texts.keys()], ["note:m:0", "note:m:1", "answer:m:0"]);
  equal([...state.coming.values()].map((c) => c.tools), [["run"]]);
  state.settle(event("note", { message: "m", round: 1, text: "one" }));
  equal([...state.texts.keys()], ["answer:m:0"]);
  state.settle(event("answer", { message: "m", text: "ans" }));
  equal(state.texts.size, 0);
  equal(state.add(live("answer", "m", 3, "late")), true, "a late one is dropped");
  equal(state.texts.size, 0);
});

test("live: another reply's text is left alone", () => {
  const state = new LiveState();
  state.add(live("note", "m1", 0, "x"));
  state.add(live("note", "m2", 0, "y"));
  state.settle(event("message", { id: "m1", kind: "reply", final: true }));
  equal([...state.texts.keys()], ["note:m2:0"]);
  state.settle(event("message", { id: "m2", kind: "reply", final: false }));
  equal([...state.texts.keys()], ["note:m2:0"], "a reply that still streams stays");
});

test("live: a hole in a reply is told, one in output is bridged with words", () => {
  const state = new LiveState();
  equal(state.add(live("answer", "m", 10, "x")), false);
  equal(state.add(live("output", "a", 10, "late\n")), true);
  const output = state.outputs.get("a")!;
  ok(output.toString().endsWith("late\n") && output.toString().includes("full output"), "the words and what came");
  equal(state.add(live("output", "a", 15, "more")), true);
  ok(output.toString().endsWith("late\nmore"), "it goes on");
});

test("live: what ended shows nothing live", () => {
  const state = new LiveState();
  state.add(live("output", "a", 0, "x"));
  state.add(live("reasoning", "m", 0, "hm"));
  state.add(live("status", "", 0, "opening a tab"));
  equal(state.status, "opening a tab");
  state.settle(event("action", { id: "a", state: "done" }));
  equal(state.outputs.size, 0);
  state.settle(event("turn", { id: "u", state: "failed" }));
  equal([state.texts.size, state.status], [0, ""]);
});

test("live: kinds of a later version and garbage do nothing", () => {
  equal(new LiveState().add(live("hologram", "m", 0, "x")), true);
  for (const v of [null, 4, {}, { kind: "note" }, { kind: 3, text: "" }]) equal(readLive(v), null);
  equal(readLive({ kind: "note", text: "x", offset: "7" })?.offset, 0);
});
