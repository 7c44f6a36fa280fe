import { ago, count, duration, elapsed, size, threadState } from "../words.ts";
import { equal, test } from "./check.ts";

test("words: durations", () => {
  const rows: [number, string][] = [
    [-5, "0 ms"],
    [NaN, "0 ms"],
    [7, "7 ms"],
    [450, "0.5 s"],
    [2310, "2.3 s"],
    [12_900, "12 s"],
    [185_000, "3 min 5 s"],
    [7_440_000, "2 h 4 min"],
  ];
  for (const [ms, want] of rows) equal(duration(ms), want);
  equal(elapsed(900), "0 s");
});

test("words: sizes and counts", () => {
  equal([0, 999, 1000, 9999, 182_033, 3_250_000, 1e9].map(size), ["0 B", "999 B", "1.0 KB", "10.0 KB", "182 KB", "3.3 MB", "1000 MB"]);
  equal([count(1, "file"), count(2, "file"), count(12_345, "match", "matches")], ["1 file", "2 files", "12,345 matches"]);
});

test("words: how long ago", () => {
  const now = Date.UTC(2026, 5, 15, 12);
  const at = (s: number) => ago(new Date(now - s * 1000).toISOString(), now);
  equal([at(-30), at(59), at(60), at(3600), at(90_000), at(3 * 86_400)], ["now", "now", "1 min", "1 h", "yesterday", "3 d"]);
  equal(at(20 * 86_400), "26 May");
  equal(at(400 * 86_400), "11 May 2025");
  equal(ago("nonsense", now), "");
});

test("words: a state of a later version counts as working", () => {
  equal(["idle", "answered", "waiting", "queued", "streaming", "dreaming"].map(threadState), ["", "", "waiting for approval", "queued", "working", "working"]);
});
