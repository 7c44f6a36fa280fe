// The start: what to do first on a new machine, what waits and is recent on a known one.

import { useState } from "preact/hooks";
import { titleOf } from "../commands.ts";
import { ApprovalCard } from "../part/approval-card.tsx";
import { DirPicker } from "../part/dir-picker.tsx";
import { Failure, Loading } from "../part/failure.tsx";
import { useNow } from "../part/hooks.ts";
import { Icon } from "../part/icon.tsx";
import { go, pathOf } from "../route.ts";
import { folderOf, folders, refreshServer, server, serverError, threads, threadsLoaded, waiting } from "../state.ts";
import { ago, count, threadState } from "../words.ts";

export function HomePage() {
  const now = useNow(30_000);
  if (!server.value) {
    return serverError.value ? <Failure error={serverError.value} retry={() => void refreshServer()} /> : <Loading what="Plexus" />;
  }
  const recent = [...threads.value.values()]
    .filter((t) => !t.archived && !t.deleted)
    .sort((x, y) => (x.updated < y.updated ? 1 : -1))
    .slice(0, 8);
  if (threadsLoaded.value && recent.length === 0) return <FirstSteps />;
  return (
    <div class="page home">
      <h1>Welcome back</h1>
      {waiting.value.length > 0 && (
        <section class="waiting" aria-label="Waiting for you">
          <h2>{count(waiting.value.length, "approval")} waiting for you</h2>
          {waiting.value.map((a) => (
            <div key={a.id}>
              {a.thread && (
                <a class="faint" href={pathOf({ page: "thread", id: a.thread })}>
                  {titleOf(threads.value.get(a.thread))}
                </a>
              )}
              <ApprovalCard approval={a} />
            </div>
          ))}
        </section>
      )}
      <div class="buttons">
        <a class="button primary" href={pathOf({ page: "new", folder: "" })}>
          <Icon name="plus" /> New thread
        </a>
      </div>
      <h2>Recent</h2>
      <ul class="cards">
        {recent.map((t) => (
          <li key={t.id}>
            <a class="card" href={pathOf({ page: "thread", id: t.id })}>
              <span class="card-title">{titleOf(t)}</span>
              <span class="faint">
                {folderOf(t.folder)?.name ?? "removed folder"} · {ago(t.updated, now)}
                {threadState(t.state) && <span class="tag">{threadState(t.state)}</span>}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function FirstSteps() {
  const [picking, setPicking] = useState(false);
  const s = server.value;
  const haveFolder = folders.value.length > 0;
  const ready = s?.models.some((m) => m.ready) ?? false;
  return (
    <div class="page home">
      <h1>Three steps to the first task</h1>
      <ol class="steps">
        <Step done={haveFolder} title="Approve a folder" text="The model works inside folders that you approve, and nowhere else.">
          <button type="button" class={haveFolder ? "" : "primary"} onClick={() => setPicking(true)}>
            <Icon name="folder" /> {haveFolder ? "Approve another" : "Choose a folder"}
          </button>
        </Step>
        <Step
          done={ready}
          title="Connect a model"
          text="A chat tab in your browser through the extension, or an OpenAI-compatible API. For the extension, run “plexus extension” in a terminal: it says how to load it."
        >
          <a class="button" href={pathOf({ page: "connections" })}>
            <Icon name="plug" /> Connections
          </a>
        </Step>
        <Step done={false} title="Give a task" text="Say what you want in plain words. You see every action, and are asked before a dangerous one.">
          <a class={`button ${haveFolder && ready ? "primary" : ""}`} href={pathOf({ page: "new", folder: "" })}>
            <Icon name="plus" /> New thread
          </a>
        </Step>
      </ol>
      <p class="faint">
        Just looking? <code>plexus demo</code> in a terminal shows a whole task on a practice site, without any account.
      </p>
      {picking && <DirPicker onClose={() => setPicking(false)} onApproved={(f) => go({ page: "new", folder: f.id })} />}
    </div>
  );
}

function Step({ done, title, text, children }: { done: boolean; title: string; text: string; children: preact.ComponentChildren }) {
  return (
    <li class={done ? "done" : ""}>
      <span class="step-mark">{done && <Icon name="check" />}</span>
      <div>
        <h2>
          {title}
          {done && <span class="sr"> (done)</span>}
        </h2>
        <p>{text}</p>
        {children}
      </div>
    </li>
  );
}
