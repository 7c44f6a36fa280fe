// A question to the person about one action, where it came up.

import { useRef, useState } from "preact/hooks";
import type { Decision } from "../api.ts";
import { decide } from "../commands.ts";
import { countDiff, readDiff } from "../diff.ts";
import type { Approval } from "../../protocol/api.ts";
import { DiffCount, DiffView } from "./diff-view.tsx";
import { takeFocus } from "./hooks.ts";
import { Icon } from "./icon.tsx";

export function ApprovalCard({ approval }: { approval: Approval }) {
  const [busy, setBusy] = useState(false);
  const [denying, setDenying] = useState(false);
  const [reason, setReason] = useState("");
  const card = useRef<HTMLDivElement>(null);

  const answer = async (decision: Decision) => {
    if (busy) return;
    setBusy(true);
    await decide(approval, decision, decision === "deny" ? reason.trim() : "");
    setBusy(false);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLTextAreaElement) return;
    if (event.key === "y") void answer("allow");
    else if (event.key === "a") void answer("always");
    else if (event.key === "n") setDenying(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const counts = approval.diff ? countDiff(readDiff(approval.diff)) : null;
  const heading = `approval-${approval.id}-title`;
  return (
    <div class="approval" id={`approval-${approval.id}`} ref={card} tabIndex={0} role="group" aria-labelledby={heading} onKeyDown={keys}>
      <p class="approval-title" id={heading}>
        <Icon name="shield" />
        <span>
          <strong>Allow this?</strong> {approval.command ? "The model wants to run a command." : `The model wants to ${approval.title}.`}
        </span>
        {counts && <DiffCount {...counts} />}
      </p>
      {approval.command && (
        <pre class="command" tabIndex={0} aria-label="Command">
          {approval.command}
        </pre>
      )}
      {approval.diff && <DiffView diff={approval.diff} />}
      <dl class="facts">
        {approval.command && (
          <>
            <dt>in</dt>
            <dd>
              <code>{approval.dir || "the folder itself"}</code>
            </dd>
          </>
        )}
        {approval.boundary && (
          <>
            <dt>held by</dt>
            <dd>{approval.boundary}</dd>
          </>
        )}
        {(approval.reasons ?? []).length > 0 && (
          <>
            <dt>asked because</dt>
            <dd>
              <ul>
                {(approval.reasons ?? []).map((r) => (
                  <li key={r}>{r}</li>
                ))}
              </ul>
            </dd>
          </>
        )}
      </dl>
      {denying ? (
        <form
          class="deny"
          onSubmit={(event) => {
            event.preventDefault();
            void answer("deny");
          }}
        >
          <label>
            Why not? The model is told, and that it must not try the same again.
            <textarea
              rows={2}
              value={reason}
              ref={takeFocus}
              onInput={(event) => setReason(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void answer("deny");
                if (event.key === "Escape") {
                  setDenying(false);
                  card.current?.focus();
                }
              }}
              placeholder="Optional. Ctrl+Enter denies."
            />
          </label>
          <div class="buttons">
            <button type="submit" class="danger" disabled={busy}>
              Deny
            </button>
            <button type="button" class="quiet" onClick={() => setDenying(false)}>
              Back
            </button>
          </div>
        </form>
      ) : (
        <div class="buttons">
          <button type="button" class="primary" disabled={busy} onClick={() => void answer("allow")}>
            Allow once <kbd aria-hidden="true">y</kbd>
          </button>
          <button type="button" disabled={busy} onClick={() => void answer("always")}>
            Always allow <kbd aria-hidden="true">a</kbd>
          </button>
          <button type="button" disabled={busy} onClick={() => setDenying(true)}>
            Deny <kbd aria-hidden="true">n</kbd>
          </button>
        </div>
      )}
    </div>
  );
}

/** What was answered, in one line. */
export function ApprovalOutcome({ approval }: { approval: Approval }) {
  const by = approval.by === "cli" ? "on the command line" : "by you";
  switch (approval.state) {
    case "allowed":
      return (
        <p class="faint">
          Allowed {by}
          {approval.always ? "; from now on without asking" : ""}.
        </p>
      );
    case "denied":
      return (
        <p class="faint">
          Denied {by}
          {approval.reason ? `: ${approval.reason}` : "."}
        </p>
      );
    case "gone":
      return <p class="faint">The question is gone: the action ended before it was answered.</p>;
    default:
      return null;
  }
}
