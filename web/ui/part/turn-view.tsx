// A turn: what was asked, what happened, the answer.

import type { LiveState, LiveText } from "../live.ts";
import type { Item, TurnBlock } from "../timeline.ts";
import { isFinal } from "../timeline.ts";
import type { Message, Turn } from "../../protocol/api.ts";
import { ActionRow, toolIcon } from "./action-row.tsx";
import { Answer, GrowingAnswer } from "./answer.tsx";
import { Icon } from "./icon.tsx";
import { LivePlain } from "./live-text.tsx";
import { MarkdownLine } from "./markdown.tsx";
import { memo } from "./memo.ts";
import { NoticeBox } from "./notice-box.tsx";
import { UserMessage } from "./user-message.tsx";
import { WireLog } from "./wire-log.tsx";
import { WordsWithCode } from "./words-with-code.tsx";

interface Props {
  block: TurnBlock;
  /** Null when nothing of the turn can be live any more, so that it is not rendered for each frame. */
  live: LiveState | null;
  version: number;
  onRetry: ((task: string) => void) | null;
}

export const TurnView = memo(function TurnView({ block, live, version, onRetry }: Props) {
  const { turn, items } = block;
  if (block.id === "") return <>{items.map((item) => item.kind === "notice" && <NoticeBox notice={item.notice} key={item.key} />)}</>;
  const messages = items.flatMap((item) => (item.kind === "message" ? [item.message] : []));
  const user = messages.find((m) => m.kind === "user");
  const failed = turn?.state === "failed" || turn?.state === "stopped";
  return (
    <article class="turn" id={`turn-${block.id}`} tabIndex={-1} aria-label={turn ? `Turn: ${turn.task.slice(0, 80)}` : "Turn"}>
      <UserMessage turn={turn} message={user} />
      <div class="happened">
        {items.map((item) => (
          <ItemView item={item} live={live} version={version} key={item.key} />
        ))}
        {live && <LiveParts block={block} live={live} version={version} />}
        {failed && turn && <LostReply messages={messages} items={items} />}
      </div>
      {failed && turn && <End turn={turn} onRetry={onRetry} />}
      <WireLog messages={messages.filter((m) => m.kind !== "user" || m.wire)} />
    </article>
  );
});

function ItemView({ item, live, version }: { item: Item; live: LiveState | null; version: number }) {
  switch (item.kind) {
    case "message":
      return null;
    case "note":
      return <NoteLine text={item.note.text} />;
    case "action": {
      const output = item.action ? live?.outputs.get(item.action.id) : undefined;
      return <ActionRow item={item} output={output} version={output ? version : 0} />;
    }
    case "answer":
      return <Answer text={item.answer.text} />;
    case "notice":
      return <NoticeBox notice={item.notice} />;
  }
}

/** A note is a line; a model that puts a book into one gets the beginning shown. */
const longestNote = 4000;

const NoteLine = memo(function NoteLine({ text }: { text: string }) {
  return (
    <p class="note">
      <MarkdownLine text={text.length > longestNote ? text.slice(0, longestNote) + " …" : text} />
    </p>
  );
});

function LiveParts({ block, live, version }: { block: TurnBlock; live: LiveState; version: number }) {
  const texts = [...live.texts.values()].filter((t) => t.turn === block.id);
  const coming = [...live.coming.values()].filter((c) => c.turn === block.id).flatMap((c) => c.tools);
  return (
    <>
      {texts.map((t) => (
        <LivePart text={t} version={version} key={t.key} />
      ))}
      {coming.map((tool, i) => (
        <p class="coming" key={`coming${i}`}>
          <Icon name={toolIcon(tool)} /> {tool}
          <span class="sr"> is being written</span>
        </p>
      ))}
    </>
  );
}

function LivePart({ text, version }: { text: LiveText; version: number }) {
  switch (text.kind) {
    case "reasoning":
      return (
        <details class="reasoning">
          <summary>Thinking</summary>
          <LivePlain pieces={text.text.pieces} version={version} label="Thinking" />
        </details>
      );
    case "note":
      return <NoteLine text={text.text.toString()} />;
    case "answer":
    case "text":
      return <GrowingAnswer text={text.text} version={version} />;
  }
}

/** The reply that a turn ended in, when nothing else of it is shown. */
function LostReply({ messages, items }: { messages: readonly Message[]; items: readonly Item[] }) {
  const reply = messages.findLast((m) => m.kind === "reply");
  if (!reply || reply.text.trim() === "") return null;
  const used = items.some(
    (i) =>
      (i.kind === "note" && i.note.message === reply.id) ||
      (i.kind === "answer" && i.answer.message === reply.id) ||
      (i.kind === "action" && i.action?.round === reply.round),
  );
  if (used) return null;
  return (
    <details class="reasoning">
      <summary>The reply as far as it came</summary>
      <pre class="output" tabIndex={0} aria-label="Unfinished reply">
        {reply.text}
      </pre>
    </details>
  );
}

function End({ turn, onRetry }: { turn: Turn; onRetry: ((task: string) => void) | null }) {
  const stopped = turn.state === "stopped";
  const text = turn.reason || (stopped ? "Stopped. What was done so far stays." : "The turn failed. What was done so far stays.");
  return (
    <div class={`notice ${stopped ? "info" : "error"}`} role={stopped ? "note" : "alert"}>
      <Icon name={stopped ? "stop" : "alert"} />
      <div>
        <p>
          <WordsWithCode text={text} />
        </p>
        {onRetry && isFinal(turn) && (
          <button type="button" class="small" onClick={() => onRetry(turn.task)}>
            Take the task into the composer
          </button>
        )}
      </div>
    </div>
  );
}
