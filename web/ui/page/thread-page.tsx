// A thread: its timeline, what goes on, the composer.

import { useEffect, useRef, useState } from "preact/hooks";
import { markRead, send, takeBack } from "../commands.ts";
import { ChangesPanel } from "../part/changes-panel.tsx";
import { Composer } from "../part/composer.tsx";
import { Empty, Failure, Loading } from "../part/failure.tsx";
import { useLatest, useLife } from "../part/hooks.ts";
import { Icon } from "../part/icon.tsx";
import { Queue } from "../part/queue.tsx";
import { StatusLine } from "../part/status-line.tsx";
import { ThreadHead } from "../part/thread-head.tsx";
import { TurnView } from "../part/turn-view.tsx";
import { useStick } from "../part/use-stick.ts";
import { changesOpen } from "../shortcuts.ts";
import { threads, threadsLoaded } from "../state.ts";
import type { ThreadFeed } from "../thread-feed.ts";
import { changedFiles, isFinal, type Timeline, turnInFlight } from "../timeline.ts";
import { go, route } from "../route.ts";

export function ThreadPage({ feed }: { feed: ThreadFeed }) {
  const thread = threads.value.get(feed.id);
  const timeline = feed.timeline.value;
  const [insert, setInsert] = useState<{ text: string } | null>(null);
  const files = changedFiles(timeline);
  useReadMark(feed);
  useWantedTurn(feed);

  if (feed.error.value) {
    if (feed.error.value.status === 404) {
      return (
        <Empty title="This thread is not here" text="It may have been deleted, or the link is of another machine.">
          <button type="button" onClick={() => go({ page: "home" })}>
            Go to the start
          </button>
        </Empty>
      );
    }
    return <Failure error={feed.error.value} retry={() => void feed.load()} />;
  }
  if (!feed.loaded.value || (!thread && !threadsLoaded.value)) return <Loading what="the thread" />;
  const running = turnInFlight(timeline) !== undefined;
  const history = timeline.blocks.flatMap((b) => (b.turn ? [b.turn.task] : []));
  return (
    <div class={`thread ${changesOpen.value ? "with-changes" : ""}`}>
      <div class="thread-main">
        {thread && (
          <ThreadHead
            thread={thread}
            changes={{ files: files.length, added: 0, removed: 0 }}
            showChanges={changesOpen.value}
            toggleChanges={() => (changesOpen.value = !changesOpen.value)}
          />
        )}
        {thread?.deleted && (
          <div class="banner">
            <Icon name="trash" />
            <p>This thread is in the bin.</p>
            <button type="button" class="small" onClick={() => void takeBack(thread)}>
              Take it back
            </button>
          </div>
        )}
        <TimelineView feed={feed} onRetry={(task) => setInsert({ text: task })} />
        <div class="thread-foot-box">
          <div class="thread-foot">
            <StatusLine feed={feed} />
            <Queue feed={feed} />
            <Composer
              key={feed.id}
              slot={feed.id}
              placeholder={running ? "Write the next message; it waits in the queue" : "Write a message"}
              sendLabel={running ? "Queue" : "Send"}
              history={history}
              insert={insert}
              send={(text) => send(feed.id, text)}
            />
          </div>
        </div>
      </div>
      {changesOpen.value && <ChangesPanel feed={feed} onClose={() => (changesOpen.value = false)} />}
    </div>
  );
}

function TimelineView({ feed, onRetry }: { feed: ThreadFeed; onRetry(task: string): void }) {
  const version = feed.tick.value;
  const timeline = feed.timeline.value;
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { stuck, toEnd } = useStick(box, content, feed.id);
  const retry = useLatest(onRetry);
  const onRetryStable = useRef((task: string) => retry.current(task));
  const blocks = timeline.blocks.filter((b) => b.turn?.state !== "queued" && !takenBack(b));
  const lastTurn = blocks.findLast((b) => b.id !== "");
  return (
    <div class="timeline-box">
      <div class="timeline" id="main" ref={box} tabIndex={-1} role="log" aria-label="Conversation" aria-live="off">
        <div class="timeline-content" ref={content}>
          <Earlier feed={feed} timeline={timeline} root={box} />
          {blocks.map((block) => {
            const live = block.turn === undefined || !isFinal(block.turn);
            return (
              <TurnView
                block={block}
                live={live ? feed.live : null}
                version={live ? version : 0}
                onRetry={block === lastTurn ? onRetryStable.current : null}
                key={block.key}
              />
            );
          })}
          {blocks.length === 0 && <p class="faint start">Nothing was said here yet. Write the first message below.</p>}
        </div>
      </div>
      {!stuck && (
        <button type="button" class="jump" onClick={toEnd}>
          <Icon name="down" /> Jump to latest
        </button>
      )}
    </div>
  );
}

/** A queued message that was taken back never ran: there is nothing to show of it. */
function takenBack(block: { turn?: { started?: string; state: string; code?: string }; items: readonly unknown[] }): boolean {
  const { turn } = block;
  return turn !== undefined && turn.state === "stopped" && !turn.started && block.items.length === 0;
}

/** Loads the page before when the reader comes near the top. */
function Earlier({ feed, timeline, root }: { feed: ThreadFeed; timeline: Timeline; root: { current: HTMLElement | null } }) {
  const mark = useRef<HTMLDivElement>(null);
  useLife(
    (signal) => {
      if (!mark.current || timeline.complete) return;
      const seen = new IntersectionObserver(
        (entries) => {
          if (entries.some((e) => e.isIntersecting) && feed.earlier.peek() === "idle") void feed.loadEarlier();
        },
        { root: root.current, rootMargin: "400px 0px 0px 0px" },
      );
      seen.observe(mark.current);
      signal.addEventListener("abort", () => seen.disconnect(), { once: true });
    },
    [timeline.complete, timeline.first],
  );
  if (timeline.complete) return null;
  return (
    <div class="earlier" ref={mark}>
      {feed.earlier.value === "loading" ? (
        <Loading what="earlier messages" />
      ) : (
        <button type="button" class="quiet small" onClick={() => void feed.loadEarlier()}>
          {feed.earlier.value === "failed" ? "That did not work. Try again" : "Load earlier messages"}
        </button>
      )}
    </div>
  );
}

/** Goes to the turn in the address, loading earlier pages until it is there. */
function useWantedTurn(feed: ThreadFeed): void {
  const at = route.value;
  const turn = at.page === "thread" ? at.turn : undefined;
  const done = useRef("");
  // After every render: the turn may come with a page of events, or with the first showing of the timeline.
  useEffect(() => {
    if (!turn || !feed.loaded.value || done.current === turn) return;
    const el = document.getElementById(`turn-${turn}`);
    if (el) {
      done.current = turn;
      el.scrollIntoView({ block: "start" });
      el.focus({ preventScroll: true });
    } else void feed.loadEarlier();
  });
}

/** Marks the thread read a second after something new was seen. */
function useReadMark(feed: ThreadFeed): void {
  const { last } = feed.timeline.value;
  useEffect(() => {
    if (last === 0 || document.hidden) return;
    const timer = setTimeout(() => {
      const thread = threads.peek().get(feed.id);
      if (thread) markRead(thread, last);
    }, 1_000);
    return () => clearTimeout(timer);
  }, [feed, last]);
}
