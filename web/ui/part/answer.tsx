// The model's answer: complete, or as it grows.

import { useRef, useState } from "preact/hooks";
import { MarkdownBlocks } from "../markdown-blocks.ts";
import type { StreamText } from "../stream-text.ts";
import { size } from "../words.ts";
import { CopyButton } from "./copy-button.tsx";
import { LivePlain } from "./live-text.tsx";
import { Markdown } from "./markdown.tsx";
import { memo } from "./memo.ts";

/** Of a longer answer the beginning is rendered, the rest shown as plain text when asked for. */
const longest = 150_000;

export function Answer({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const cut = text.length > longest ? text.lastIndexOf("\n", longest) + 1 || longest : text.length;
  return (
    <div class="answer">
      <div class="prose">
        <Markdown text={text.slice(0, cut)} />
        {all && (
          <pre class="output" tabIndex={0} aria-label="The rest of the answer">
            {text.slice(cut)}
          </pre>
        )}
      </div>
      {cut < text.length && !all && (
        <button type="button" class="small" onClick={() => setAll(true)}>
          Show the rest as plain text ({size(text.length - cut)})
        </button>
      )}
      <div class="answer-tools">
        <CopyButton text={() => text} label="Copy answer" />
      </div>
    </div>
  );
}

/** Renders only the block that grows; the ones before it keep their nodes. */
export function GrowingAnswer({ text, version }: { text: StreamText; version: number }) {
  const state = useRef<{ text: StreamText; next: number; blocks: MarkdownBlocks } | null>(null);
  if (state.current?.text !== text) state.current = { text, next: 0, blocks: new MarkdownBlocks() };
  const { blocks } = state.current;
  while (state.current.next < text.pieces.length) blocks.feed(text.pieces[state.current.next++]!);
  const all = groups(blocks.closed);
  const shown = all.slice(-mostGroups);
  return (
    <div class="answer growing" aria-busy="true">
      <div class="prose">
        {all.length > shown.length && <p class="faint">The beginning of this long answer is shown when it is complete.</p>}
        {shown.map((group) => (
          <Group key={group.from} blocks={blocks.closed} from={group.from} to={group.to} />
        ))}
        {blocks.fence ? (
          <figure class="code" key={`fence${blocks.closed.length}`}>
            <figcaption>
              <span>{blocks.fence.lang || "text"}</span>
            </figcaption>
            <LivePlain pieces={blocks.fence.pieces} version={version} label={blocks.fence.lang ? `${blocks.fence.lang} code` : "Code"} />
          </figure>
        ) : (
          blocks.growing.trim() !== "" && <Markdown key={blocks.closed.length} text={blocks.growing} />
        )}
      </div>
    </div>
  );
}

const groupSize = 40;
const mostGroups = 25;

/** Blocks in groups, so that a frame compares groups and not all blocks of a long answer. */
function groups(blocks: readonly string[]): { from: number; to: number }[] {
  const out: { from: number; to: number }[] = [];
  for (let from = 0; from < blocks.length; from += groupSize) out.push({ from, to: Math.min(blocks.length, from + groupSize) });
  return out;
}

const Group = memo(function Group({ blocks, from, to }: { blocks: readonly string[]; from: number; to: number }) {
  return (
    <div class={to - from === groupSize ? "blocks full" : "blocks"}>
      {blocks.slice(from, to).map((block, i) => (
        <Markdown key={from + i} text={block} />
      ))}
    </div>
  );
});
