// One action of the model: a row that opens.

import { useId, useState } from "preact/hooks";
import { readResult } from "../result.ts";
import type { StreamText } from "../stream-text.ts";
import type { ActionItem } from "../timeline.ts";
import type { Action, Result } from "../../protocol/api.ts";
import { duration, elapsed } from "../words.ts";
import { ActionBody } from "./action-body.tsx";
import { ApprovalCard, ApprovalOutcome } from "./approval-card.tsx";
import { DiffCount } from "./diff-view.tsx";
import { useNow } from "./hooks.ts";
import { Icon, type IconName } from "./icon.tsx";
import { memo } from "./memo.ts";

interface Props {
  item: ActionItem;
  output: StreamText | undefined;
  version: number;
}

export const ActionRow = memo(function ActionRow({ item, output, version }: Props) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const id = useId();
  const { action, approval } = item;
  const asking = approval?.state === "pending" && action?.state !== "done";
  if (!action) return approval ? <ApprovalCard approval={approval} /> : null;
  const running = action.state === "running";
  const open = !asking && (chosen ?? (running && output !== undefined));
  const result = readResult(action.result);
  const look = lookOf(action, result);
  return (
    <div class={`action ${look.tone}`}>
      <button type="button" class="action-head" data-row aria-expanded={open} aria-controls={open ? id : undefined} onClick={() => setChosen(!open)}>
        <span class="status">
          {running ? <span class="spinner" aria-hidden="true" /> : <Icon name={look.icon} />}
          <span class="sr">{look.word}:</span>
        </span>
        <Icon name={toolIcon(action.tool)} class="tool" />
        <span class="action-title">{action.title || action.tool}</span>
        <span class="action-facts">
          <Facts action={action} result={result} />
        </span>
        <Icon name="chevron" class="chevron" />
      </button>
      {asking && approval && <ApprovalCard approval={approval} />}
      {open && (
        <div class="action-body" id={id}>
          {approval && !asking && <ApprovalOutcome approval={approval} />}
          <ActionBody action={action} output={output} version={version} />
        </div>
      )}
    </div>
  );
});

function Facts({ action, result }: { action: Action; result: Result | null }) {
  const now = useNow(1000, action.state === "running");
  const changes = result?.changes ?? [];
  const added = changes.reduce((n, c) => n + c.added, 0);
  const removed = changes.reduce((n, c) => n + c.removed, 0);
  return (
    <>
      <DiffCount added={added} removed={removed} />
      {action.state === "waiting" && <span class="tag warn">waiting</span>}
      {action.decision === "denied" && <span class="tag">denied</span>}
      {result && <Exit result={result} />}
      {action.state === "running" && <span>{elapsed(now - Date.parse(action.created))}</span>}
      {action.state === "done" && !result && action.outcome === "exit_nonzero" && <span class="tag bad">failed</span>}
      {action.state === "done" && <span>{duration(result?.ms ?? Date.parse(action.ended ?? "") - Date.parse(action.created))}</span>}
    </>
  );
}

function Exit({ result }: { result: Result }) {
  if (result.status === "timeout") return <span class="tag bad">timed out</span>;
  if (result.status === "interrupted") return <span class="tag warn">interrupted</span>;
  if (result.status === "dropped") return <span class="tag">not run</span>;
  if (result.signal) return <span class="tag bad">{result.signal}</span>;
  if (result.exit !== undefined) return <span class={result.exit === 0 ? "" : "tag bad"}>exit {result.exit}</span>;
  return result.status === "error" ? <span class="tag bad">error</span> : null;
}

interface Look {
  icon: IconName;
  tone: string;
  word: string;
}

function lookOf(action: Action, result: Result | null): Look {
  switch (action.state) {
    case "intended":
      return { icon: "clock", tone: "idle", word: "Not begun" };
    case "waiting":
      return { icon: "shield", tone: "warn", word: "Waits for approval" };
    case "running":
      return { icon: "clock", tone: "busy", word: "Running" };
    case "done":
      break;
  }
  if (action.decision === "denied") return { icon: "cross", tone: "idle", word: "Denied" };
  switch (result?.status) {
    case "ok":
      return result.exit ? { icon: "cross", tone: "bad", word: `Failed with exit code ${result.exit}` } : { icon: "check", tone: "good", word: "Done" };
    case "timeout":
      return { icon: "clock", tone: "bad", word: "Timed out" };
    case "interrupted":
      return { icon: "stop", tone: "warn", word: "Interrupted, may have partly run" };
    case "dropped":
      return { icon: "cross", tone: "idle", word: "Not run" };
    case "denied":
      return { icon: "cross", tone: "idle", word: "Denied" };
    case "error":
      return { icon: "cross", tone: "bad", word: "Failed" };
    default:
      return action.outcome === "ok" ? { icon: "check", tone: "good", word: "Done" } : { icon: "cross", tone: "bad", word: "Failed" };
  }
}

export function toolIcon(tool: string): IconName {
  switch (tool) {
    case "run":
      return "terminal";
    case "read":
      return "file";
    case "write":
    case "apply_patch":
      return "edit";
    case "search":
      return "search";
    case "list":
      return "list";
    default:
      return "code";
  }
}
