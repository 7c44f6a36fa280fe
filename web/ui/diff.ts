// Unified diffs as rows to show.

export type DiffRow =
  | { kind: "hunk"; text: string }
  | { kind: "file"; text: string }
  | { kind: "same" | "add" | "del"; text: string; old: number; new: number }
  | { kind: "note"; text: string };

/** Reads a unified diff. What is no diff comes out as plain rows, so that nothing is hidden. */
export function readDiff(diff: string): DiffRow[] {
  const rows: DiffRow[] = [];
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  let oldLine = 0;
  let newLine = 0;
  let oldLeft = 0;
  let newLeft = 0;
  for (const line of lines) {
    if (oldLeft > 0 || newLeft > 0) {
      const mark = line[0];
      const text = line.slice(1);
      if (mark === "+") {
        rows.push({ kind: "add", text, old: 0, new: newLine++ });
        newLeft--;
        continue;
      }
      if (mark === "-") {
        rows.push({ kind: "del", text, old: oldLine++, new: 0 });
        oldLeft--;
        continue;
      }
      if (mark === " " || mark === undefined) {
        rows.push({ kind: "same", text, old: oldLine++, new: newLine++ });
        oldLeft--;
        newLeft--;
        continue;
      }
    }
    if (line.startsWith("\\")) {
      rows.push({ kind: "note", text: line.slice(1).trim() });
      continue;
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) {
      oldLine = Number(hunk[1]);
      oldLeft = hunk[2] === undefined ? 1 : Number(hunk[2]);
      newLine = Number(hunk[3]);
      newLeft = hunk[4] === undefined ? 1 : Number(hunk[4]);
      rows.push({ kind: "hunk", text: line });
    } else rows.push({ kind: "file", text: line });
  }
  return rows;
}

/** Lines added and removed. */
export function countDiff(rows: readonly DiffRow[]): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const row of rows) {
    if (row.kind === "add") added++;
    else if (row.kind === "del") removed++;
  }
  return { added, removed };
}
