import { TerminalText } from "../terminal.ts";
import { equal, numbers, ok, pieces, test } from "./check.ts";

const rows: { name: string; text: string; want: string }[] = [
  { name: "plain", text: "one\ntwo\n", want: "one\ntwo\n" },
  { name: "no newline at the end", text: "one\ntw", want: "one\ntw" },
  { name: "colours", text: "\x1b[1;32mok\x1b[0m done\n", want: "ok done\n" },
  { name: "a title", text: "\x1b]0;make\x07built\n", want: "built\n" },
  { name: "a title with the other end", text: "\x1b]0;make\x1b\\built\n", want: "built\n" },
  { name: "progress keeps its last state", text: "10%\r50%\r100%\nnext\n", want: "100%\nnext\n" },
  { name: "progress that goes on", text: "10%\r50%", want: "50%" },
  { name: "CR LF", text: "a\r\nb\r\n", want: "a\nb\n" },
  { name: "an escape that never ends is not shown", text: "a\x1b[31", want: "a" },
];

for (const row of rows) {
  test(`terminal: ${row.name}`, () => {
    for (let seed = 0; seed < 30; seed++) {
      const terminal = new TerminalText();
      const parts = seed === 0 ? [row.text] : pieces(row.text, 3, numbers(seed));
      equal(parts.map((p) => terminal.feed(p)).join("") + terminal.line, row.want, `seed ${seed}`);
    }
  });
}

test("terminal: a line without end is passed on in pieces", () => {
  const terminal = new TerminalText();
  let got = "";
  for (let i = 0; i < 1000; i++) got += terminal.feed("x".repeat(100));
  equal((got + terminal.line).length, 100_000);
  ok(terminal.line.length <= 8192, "what is held back is bounded");
});
