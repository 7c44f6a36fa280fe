import { follow, SseDecoder, type SseMessage, type StreamState } from "../sse.ts";
import { equal, numbers, ok, pieces, test } from "./check.ts";

const rows: { name: string; text: string; want: SseMessage[] }[] = [
  { name: "one message", text: "id: 7\nevent: event\ndata: {}\n\n", want: [{ id: "7", event: "event", data: "{}" }] },
  { name: "comment lines are no message", text: ": open\n\n: alive\n\n", want: [] },
  { name: "CR LF", text: "event: live\r\ndata: a\r\n\r\n", want: [{ id: "", event: "live", data: "a" }] },
  { name: "CR alone", text: "data: a\r\rdata: b\r\r", want: [msg("a"), msg("b")] },
  { name: "several data lines join", text: "data: a\ndata: b\ndata:\n\n", want: [msg("a\nb\n")] },
  { name: "only one space is dropped", text: "data:  a\n\n", want: [msg(" a")] },
  { name: "no space", text: "data:a\n\n", want: [msg("a")] },
  { name: "an id stays until another", text: "id: 1\ndata: a\n\ndata: b\n\n", want: [msg("a", "1"), msg("b", "1")] },
  { name: "no data, no message, and the kind is forgotten", text: "event: x\n\ndata: a\n\n", want: [msg("a")] },
  { name: "an unfinished message is held back", text: "data: a\n", want: [] },
  { name: "unknown fields and fields without colon", text: "retry: 5\nfoo\ndata\n\n", want: [msg("")] },
  { name: "a colon in the value", text: 'data: {"a":"b: c"}\n\n', want: [msg('{"a":"b: c"}')] },
];

function msg(data: string, id = ""): SseMessage {
  return { id, event: "message", data };
}

for (const row of rows) {
  test(`sse: ${row.name}`, () => {
    equal(new SseDecoder().feed(row.text), row.want);
    for (let seed = 1; seed < 20; seed++) {
      const decoder = new SseDecoder();
      const got = pieces(row.text, 3, numbers(seed)).flatMap((p) => decoder.feed(p));
      equal(got, row.want, `cut with seed ${seed}`);
    }
  });
}

test("sse: a long line in small pieces costs what it is long", () => {
  const decoder = new SseDecoder();
  const piece = "x".repeat(64);
  decoder.feed("data: ");
  for (let i = 0; i < 50_000; i++) decoder.feed(piece);
  equal(decoder.feed("\n\n")[0]?.data.length, 64 * 50_000);
});

function stream(text: string): Response {
  return new Response(text, { status: 200 });
}

test("follow: reads, loses the stream, comes again, ends with the signal", async () => {
  const life = new AbortController();
  const seen: string[] = [];
  const states: StreamState["state"][] = [];
  let attempts = 0;
  await follow({
    signal: life.signal,
    open: async () => {
      attempts++;
      if (attempts === 2) throw new TypeError("refused");
      return stream(`data: ${attempts}\n\n`);
    },
    on: (m) => {
      seen.push(m.data);
      if (m.data === "3") life.abort();
    },
    state: (s) => states.push(s.state),
  });
  equal(seen, ["1", "3"]);
  equal(states, ["connecting", "open", "lost", "connecting", "lost", "connecting", "open"]);
});

test("follow: tells the status of a refusal", async () => {
  const life = new AbortController();
  let status = 0;
  await follow({
    signal: life.signal,
    open: async () => new Response("", { status: 401 }),
    on: () => undefined,
    state: (s) => {
      if (s.state !== "lost") return;
      status = s.status;
      ok(s.retryAt >= Date.now() - 1000, "the time of the next try is told");
      life.abort();
    },
  });
  equal(status, 401);
});
