// Always says what is going on now, and for how long.

import type { Turn } from "../../protocol/api.ts";
import { stop } from "../commands.ts";
import type { ThreadFeed } from "../thread-feed.ts";
import { isFinal, runningAction, turnInFlight } from "../timeline.ts";
import { duration, elapsed, turnStatus } from "../words.ts";
import { useNow } from "./hooks.ts";
import { Icon } from "./icon.tsx";

export function StatusLine({ feed }: { feed: ThreadFeed }) {
  void feed.tick.value;
  const timeline = feed.timeline.value;
  const turn = turnInFlight(timeline);
  const now = useNow(1000, turn !== undefined);
  const block = turn && timeline.blocks.find((b) => b.id === turn.id);
  const lost = feed.stream.value.state === "lost";
  const running = block && runningAction(block);
  const since = turn?.state === "acting" && running ? running.created : turn?.since;
  const ended = timeline.blocks.findLast((b) => b.turn && isFinal(b.turn))?.turn;
  let text = turn ? turnStatus(turn.state, running) : "";
  if (turn?.state === "streaming" && [...feed.live.texts.values()].some((t) => t.turn === turn.id)) text = "The model is replying";
  if (turn && feed.live.status && turn.state !== "acting" && turn.state !== "waiting") text = feed.live.status;
  return (
    <div class="status-line">
      <p role="status" aria-live="polite">
        {lost ? (
          <>
            <Icon name="plug" /> Connection lost; connecting again. What you see may be old.
          </>
        ) : turn ? (
          <>
            {turn.state === "waiting" ? <Icon name="shield" class="warn" /> : <span class="spinner" aria-hidden="true" />}
            <span class="status-text">{text}</span>
          </>
        ) : (
          ended && <span class="faint">{past(ended)}</span>
        )}
      </p>
      {turn && (
        <>
          <span class="elapsed" aria-hidden="true">
            {elapsed(now - Date.parse(since ?? ""))}
          </span>
          <button type="button" class="small stop" onClick={() => void stop(feed.id)} title="Stop (Ctrl+.)">
            <Icon name="stop" /> Stop
          </button>
        </>
      )}
    </div>
  );
}

function past(turn: Turn): string {
  const took = Date.parse(turn.ended ?? "") - Date.parse(turn.started ?? "");
  return `${turnStatus(turn.state, undefined)}${took >= 0 ? ` after ${duration(took)}` : ""}`;
}
