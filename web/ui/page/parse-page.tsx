// What the parser sees in a reply, as it is typed or pasted: for people who tune prompts.

import { useState } from "preact/hooks";
import * as api from "../api.ts";
import { toolIcon } from "../part/action-row.tsx";
import { CodeBlock } from "../part/code-block.tsx";
import { Failure } from "../part/failure.tsx";
import { useLoad, useSettled } from "../part/hooks.ts";
import { Icon } from "../part/icon.tsx";
import { Markdown } from "../part/markdown.tsx";

const sample = `{plx:note}Looking at the tests first.{/plx:note}
{plx:run}go test ./...{/plx:run}`;

const problemWords: Readonly<Record<string, string>> = {
  "invented-result": "The reply has a result that the model made up. It is dropped, and every action after it.",
  "too-many-actions": "More actions than one reply may have. The rest is dropped.",
  "answer-dropped": "Actions and an answer in one reply. The actions run, the answer is dropped.",
  "unfinished-action": "An action has no end. It is not run.",
  "unknown-tag": "A tag that is not in the grammar.",
  "extra-answer": "More than one answer. The first counts.",
};

export function ParsePage() {
  const [text, setText] = useState("");
  const [rendered, setRendered] = useState(false);
  const settled = useSettled(text, 150);
  const [reply] = useLoad((signal) => (settled === "" ? Promise.resolve(null) : api.parseReply(settled, rendered, signal)), [settled, rendered]);
  return (
    <div class="page parse">
      <h1>Parse a reply</h1>
      <p class="lead">
        Paste what a model said: this shows what Plexus would do with it. Nothing is run. The same on the command line: <code>plexus parse</code>.
      </p>
      <div class="parse-grid">
        <div>
          <label for="reply">Reply</label>
          <textarea id="reply" class="mono" rows={16} spellcheck={false} value={text} onInput={(e) => setText(e.currentTarget.value)} />
          <div class="buttons">
            <label class="check">
              <input type="checkbox" checked={rendered} onChange={(e) => setRendered(e.currentTarget.checked)} /> Read from a rendered page (decode entities)
            </label>
            <button type="button" class="small quiet" onClick={() => setText(sample)}>
              Put in a sample
            </button>
          </div>
        </div>
        <div aria-live="polite">
          {reply.state === "failed" && <Failure error={reply.error} />}
          {reply.state === "ok" && (reply.value ? <Parsed reply={reply.value} /> : <p class="faint">Waiting for a reply to read.</p>)}
        </div>
      </div>
    </div>
  );
}

function Parsed({ reply }: { reply: api.ParsedReply }) {
  return (
    <>
      <p class="verdict">
        {reply.needsCorrection ? (
          <span class="tag bad">the model would be asked again</span>
        ) : reply.actions.length > 0 ? (
          <span class="tag good">
            {reply.actions.length} {reply.actions.length === 1 ? "action" : "actions"}
          </span>
        ) : (
          <span class="tag good">an answer</span>
        )}
      </p>
      {reply.problems.map((p) => (
        <div class="notice warn" key={p}>
          <Icon name="alert" />
          <p>
            <code>{p}</code> {problemWords[p] ?? ""}
          </p>
        </div>
      ))}
      {reply.notes.map((n, i) => (
        <p class="note" key={i}>
          {n}
        </p>
      ))}
      {reply.actions.map((a, i) => (
        <div class="parsed-action" key={i}>
          <p>
            <Icon name={toolIcon(a.tool)} /> <strong>{a.tool}</strong>{" "}
            {Object.entries(a.attrs ?? {}).map(([k, v]) => (
              <code key={k}>
                {k}="{v}"
              </code>
            ))}
          </p>
          {a.body && <CodeBlock lang="" code={a.body} />}
        </div>
      ))}
      {reply.answer && (
        <div class="answer prose">
          <Markdown text={reply.answer} />
        </div>
      )}
      <details>
        <summary>Text shown while it streams</summary>
        <pre class="output" tabIndex={0} aria-label="Shown text">
          {reply.display || "(nothing)"}
        </pre>
      </details>
    </>
  );
}
