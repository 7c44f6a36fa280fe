// Messages that wait for their turn.

import { useState } from "preact/hooks";
import * as api from "../api.ts";
import { attempt } from "../commands.ts";
import type { ThreadFeed } from "../thread-feed.ts";
import { queuedTurns } from "../timeline.ts";
import type { Turn } from "../../protocol/api.ts";
import { count } from "../words.ts";
import { takeFocus } from "./hooks.ts";
import { Icon } from "./icon.tsx";

export function Queue({ feed }: { feed: ThreadFeed }) {
  const turns = queuedTurns(feed.timeline.value);
  if (turns.length === 0) return null;
  const move = (from: number, by: number) => {
    const order = turns.map((t) => t.id);
    const [id] = order.splice(from, 1);
    order.splice(from + by, 0, id!);
    void attempt(() => api.orderQueue(feed.id, order));
  };
  return (
    <section class="queue" aria-label="Queue">
      <h3>{count(turns.length, "message")} in the queue</h3>
      <ol>
        {turns.map((turn, i) => (
          <QueuedTurn turn={turn} first={i === 0} last={i === turns.length - 1} move={(by) => move(i, by)} key={turn.id} />
        ))}
      </ol>
    </section>
  );
}

function QueuedTurn({ turn, first, last, move }: { turn: Turn; first: boolean; last: boolean; move(by: number): void }) {
  const [text, setText] = useState<string | null>(null);
  const save = async () => {
    if (text !== null && text.trim() !== "" && (await attempt(() => api.editTurn(turn.id, text)))) setText(null);
  };
  if (text !== null) {
    return (
      <li class="editing">
        <textarea
          rows={3}
          aria-label="Queued message"
          value={text}
          ref={takeFocus}
          onInput={(e) => setText(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === "Escape") setText(null);
            if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) void save();
          }}
        />
        <button type="button" class="small primary" onClick={() => void save()}>
          Save
        </button>
        <button type="button" class="small quiet" onClick={() => setText(null)}>
          Cancel
        </button>
      </li>
    );
  }
  return (
    <li>
      <span class="queued-text">{turn.task}</span>
      <button type="button" class="quiet icon-only" aria-label="Edit" title="Edit" onClick={() => setText(turn.task)}>
        <Icon name="edit" />
      </button>
      <button type="button" class="quiet icon-only" aria-label="Move up" title="Move up" disabled={first} onClick={() => move(-1)}>
        <Icon name="up" />
      </button>
      <button type="button" class="quiet icon-only" aria-label="Move down" title="Move down" disabled={last} onClick={() => move(1)}>
        <Icon name="down" />
      </button>
      <button
        type="button"
        class="quiet icon-only"
        aria-label="Take back"
        title="Take back"
        onClick={() => void attempt(() => api.removeTurn(turn.id))}
      >
        <Icon name="cross" />
      </button>
    </li>
  );
}
