import { useMemo, useState } from "preact/hooks";
import { type DiffRow, readDiff } from "../diff.ts";
import type { Change } from "../../protocol/api.ts";
import { count } from "../words.ts";
import { CopyButton } from "./copy-button.tsx";

const first = 400;

/** A unified diff; a long one shows its beginning and offers the rest. */
export function DiffView({ diff }: { diff: string }) {
  const rows = useMemo(() => readDiff(diff).filter((r) => r.kind !== "file"), [diff]);
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, first);
  return (
    <div class="diff" tabIndex={0} role="region" aria-label="Changes as a diff">
      <div class="diff-rows">
        {shown.map((row, i) => (
          <Row row={row} key={i} />
        ))}
      </div>
      {shown.length < rows.length && (
        <button type="button" class="quiet small" onClick={() => setAll(true)}>
          Show {count(rows.length - shown.length, "more line")}
        </button>
      )}
    </div>
  );
}

function Row({ row }: { row: DiffRow }) {
  switch (row.kind) {
    case "hunk":
      return <div class="diff-row hunk">{row.text}</div>;
    case "file":
    case "note":
      return <div class="diff-row note">{row.text}</div>;
    default: {
      const mark = row.kind === "add" ? "+" : row.kind === "del" ? "−" : " ";
      return (
        <div class={`diff-row ${row.kind}`}>
          <span class="num" aria-hidden="true">
            {row.kind === "add" ? row.new : row.old}
          </span>
          <span class="mark">{mark}</span>
          <span class="text">{row.text || " "}</span>
        </div>
      );
    }
  }
}

/** "+3 −1", told to screen readers in words. */
export function DiffCount({ added, removed }: { added: number; removed: number }) {
  if (added === 0 && removed === 0) return null;
  return (
    <span class="diff-count">
      <span class="sr">{`${added} added, ${removed} removed`}</span>
      <span aria-hidden="true">
        <span class="plus">+{added}</span> <span class="minus">−{removed}</span>
      </span>
    </span>
  );
}

/** One file that was changed, with its diff. */
export function ChangeView({ change }: { change: Change }) {
  return (
    <div class="change">
      <div class="change-head">
        <code>{change.path}</code>
        <span class="tag">{opWord(change.op)}</span>
        <DiffCount added={change.added} removed={change.removed} />
        {change.diff && <CopyButton text={() => change.diff ?? ""} label="Copy diff" />}
      </div>
      {change.diff ? <DiffView diff={change.diff} /> : <p class="faint">{change.cut ? "The diff is too large to show." : "There is no text to compare."}</p>}
    </div>
  );
}

function opWord(op: string): string {
  return op === "create" ? "new file" : op === "delete" ? "deleted" : "changed";
}


