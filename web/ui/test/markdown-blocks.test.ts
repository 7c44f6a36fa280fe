import { MarkdownBlocks } from "../markdown-blocks.ts";
import { equal, numbers, ok, pieces, test } from "./check.ts";

interface Cut {
  closed: string[];
  growing: string;
  fence: string | null;
}

function cut(parts: readonly string[]): Cut {
  const blocks = new MarkdownBlocks();
  for (const p of parts) blocks.feed(p);
  return { closed: blocks.closed, growing: blocks.growing, fence: blocks.fence ? blocks.fence.pieces.join("") : null };
}

const rows: { name: string; text: string; want: Cut }[] = [
  { name: "nothing", text: "", want: { closed: [], growing: "", fence: null } },
  { name: "a paragraph grows", text: "one\ntwo", want: { closed: [], growing: "one\ntwo", fence: null } },
  { name: "a blank line closes it", text: "one\n\ntwo", want: { closed: ["one\n\n"], growing: "two", fence: null } },
  { name: "a fence is not parsed while open", text: "a:\n```go\nx := 1\n\ny", want: { closed: ["a:\n"], growing: "", fence: "x := 1\n\n" } },
  { name: "a fence closes", text: "```go\nx\n```\nb", want: { closed: ["```go\nx\n```\n"], growing: "b", fence: null } },
  { name: "a longer fence holds a shorter", text: "````\n```\n````\n", want: { closed: ["````\n```\n````\n"], growing: "", fence: null } },
  { name: "tildes", text: "~~~\n```\n~~~\n", want: { closed: ["~~~\n```\n~~~\n"], growing: "", fence: null } },
  { name: "a list stays one block over blank lines", text: "- a\n\n- b\n\n  more\n", want: { closed: [], growing: "- a\n\n- b\n\n  more\n", fence: null } },
  { name: "text after a list begins another", text: "- a\n\nend", want: { closed: [], growing: "- a\n\nend", fence: null } },
  { name: "and is cut when its line is whole", text: "- a\n\nend\n", want: { closed: ["- a\n\n"], growing: "end\n", fence: null } },
  { name: "a fence in a list keeps its blank lines", text: "- a\n  ```\n  x\n\n  y\n  ```\n\nend\n", want: { closed: ["- a\n  ```\n  x\n\n  y\n  ```\n\n"], growing: "end\n", fence: null } },
  { name: "inline code with three backticks is no fence", text: "``` a ``` b\n", want: { closed: [], growing: "``` a ``` b\n", fence: null } },
  { name: "CR LF", text: "one\r\n\r\ntwo\r\n", want: { closed: ["one\n\n"], growing: "two\n", fence: null } },
];

for (const row of rows) {
  test(`blocks: ${row.name}`, () => {
    equal(cut([row.text]), row.want);
    for (let seed = 1; seed < 25; seed++) equal(cut(pieces(row.text, 3, numbers(seed))), row.want, `cut with seed ${seed}`);
  });
}

test("blocks: every character is shown, once", () => {
  const next = numbers(7);
  const bits = ["word ", "\n", "\n\n", "- item\n", "```js\n", "```\n", "  ", "1. x\n", "> q\n", "#", " h\n", "~~~\n", "`", "\t"];
  for (let round = 0; round < 300; round++) {
    const text = Array.from({ length: 1 + next(30) }, () => bits[next(bits.length)]).join("");
    const blocks = new MarkdownBlocks();
    for (const p of pieces(text, 5, next)) blocks.feed(p);
    const shown = blocks.closed.join("") + blocks.growing + (blocks.fence?.pieces.join("") ?? "");
    const count = (t: string, what: string) => t.split(what).length - 1;
    for (const word of ["word", "item", "x", "h"]) {
      // The line that is not complete inside an open fence is held back.
      const held = blocks.fence ? text.slice(text.lastIndexOf("\n") + 1) : "";
      equal(count(shown, word), count(text, word) - count(held, word) - lang(text, shown, word), `${word} of ${JSON.stringify(text)}`);
    }
  }
});

/** Words in the info string of a fence: only its first one is kept, as the language. */
function lang(text: string, shown: string, word: string): number {
  let lost = 0;
  for (const line of text.split("\n")) {
    if (/^ {0,3}(```+|~~~+)/.test(line)) lost += line.split(word).length - 1;
  }
  for (const line of shown.split("\n")) {
    if (/^ {0,3}(```+|~~~+)/.test(line)) lost -= line.split(word).length - 1;
  }
  return lost;
}

test("blocks: a megabyte in small deltas", () => {
  const blocks = new MarkdownBlocks();
  const paragraph = "Some words of an answer that goes on and on.\n\n";
  let fed = 0;
  while (fed < 1 << 20) {
    for (let i = 0; i < paragraph.length; i += 9) blocks.feed(paragraph.slice(i, i + 9));
    fed += paragraph.length;
  }
  ok(blocks.closed.length > 20_000, "each paragraph is a block");
  ok(blocks.growing.length < 100, "nothing is left over");
});
