import { memo, useEffect, useRef, useState, type RefObject } from "react";
import { useChat } from "./App";
import type { Row } from "./chat";
import { Icon } from "./Icon";
import { Markdown } from "./Markdown";
import { ErrorCard } from "./Notices";

export function Transcript() {
  const { rows, busy } = useChat();
  const view = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  useFollow(view, content, rows.length);
  const last = rows.at(-1);
  return (
    <div className="transcript" ref={view}>
      <div ref={content}>
        {rows.map((row, i) => (
          <Turn key={row.role === "user" ? row.key : `${rows[i - 1]?.key ?? ""}-answer`} row={row} index={i + 1} />
        ))}
        {busy && last?.role === "user" && <div className="waiting" aria-hidden="true" />}
      </div>
    </div>
  );
}

/** Keeps the end in sight as the content grows, unless the reader has scrolled away from it; a new row brings it back. */
function useFollow(view: RefObject<HTMLDivElement | null>, content: RefObject<HTMLDivElement | null>, count: number): void {
  const follow = useRef(true);
  useEffect(() => {
    follow.current = true;
  }, [count]);
  useEffect(() => {
    const box = view.current;
    const inner = content.current;
    if (box === null || inner === null) return;
    const stop = new AbortController();
    box.addEventListener("scroll", () => (follow.current = box.scrollHeight - box.scrollTop - box.clientHeight < 80), { signal: stop.signal });
    const grown = new ResizeObserver(() => {
      if (follow.current) box.scrollTop = box.scrollHeight;
    });
    grown.observe(inner);
    return () => {
      stop.abort();
      grown.disconnect();
    };
  }, [view, content]);
}

const Turn = memo(function Turn({ row, index }: { row: Row; index: number }) {
  return (
    <article data-testid={`conversation-turn-${index}`} data-turn={row.role} data-turn-id={row.key} className={`turn ${row.role}`}>
      {row.role === "user" ? <Asked row={row} /> : <Answer row={row} />}
    </article>
  );
}, sameTurn);

function sameTurn(a: { row: Row; index: number }, b: { row: Row; index: number }): boolean {
  return a.row === b.row && a.index === b.index;
}

/** A message of ours may be clamped to its first lines; its text is whole all the same. */
function Asked({ row }: { row: Row }) {
  const [all, setAll] = useState(false);
  const long = row.text.length > 1200;
  return (
    <div data-message-author-role="user" data-message-id={row.messageId} className="bubble">
      <div className={long && !all ? "whitespace-pre-wrap clamped" : "whitespace-pre-wrap"}>{row.text}</div>
      {long && (
        <button type="button" className="quiet" onClick={() => setAll(!all)}>
          {all ? "Show less" : "Show more"}
        </button>
      )}
    </div>
  );
}

function Answer({ row }: { row: Row }) {
  const id = row.messageId === null ? {} : { "data-message-id": row.messageId };
  return (
    <div className="agent-turn">
      <Thoughts row={row} />
      <div data-message-author-role="assistant" {...id}>
        <Markdown text={row.text} streaming={row.streaming} />
      </div>
      {row.error !== null && <ErrorCard text={row.error} />}
      {!row.streaming && row.error === null && row.text !== "" && (
        <div className="turn-actions">
          <button type="button" aria-label="Copy" data-testid="copy-turn-action-button" onClick={() => void navigator.clipboard.writeText(row.text)}>
            <Icon name="copy" />
          </button>
          <button type="button" aria-label="Good response" data-testid="good-response-turn-action-button">
            <Icon name="good" />
          </button>
          <button type="button" aria-label="Bad response" data-testid="bad-response-turn-action-button">
            <Icon name="bad" />
          </button>
        </div>
      )}
    </div>
  );
}

function Thoughts({ row }: { row: Row }) {
  const [open, setOpen] = useState(false);
  if (row.thoughts === "" && row.recap === "") return null;
  return (
    <div className="thoughts">
      <button type="button" className="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
        {row.recap === "" ? "Thinking" : row.recap}
      </button>
      {open && <p>{row.thoughts}</p>}
    </div>
  );
}
