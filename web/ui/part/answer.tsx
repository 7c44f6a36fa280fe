// The model's answer: complete, or as it grows.

import { useRef } from "preact/hooks";
import { MarkdownBlocks } from "../markdown-blocks.ts";
import type { StreamText } from "../stream-text.ts";
import { CopyButton } from "./copy-button.tsx";
import { LivePlain } from "./live-text.tsx";
import { Markdown } from "./markdown.tsx";
import { memo } from "./memo.ts";

export function Answer({ text }: { text: string }) {
  return (
    <div class="answer">
      <div class="prose">
        <Markdown text={text} />
      </div>
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
  return (
    <div class="answer growing" aria-busy="true">
      <div class="prose">
        {groups(blocks.closed).map((group, i) => (
          <Group key={i} blocks={blocks.closed} from={group.from} to={group.to} />
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
