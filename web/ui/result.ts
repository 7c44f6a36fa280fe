// What an action's input and result hold, read without trust: they are JSON
// that a tool made, and a large one is kept elsewhere with only its head here.

import { isRecord } from "./event.ts";
import type { Change, Outcome, Result, Status } from "../protocol/api.ts";

/** A value over 64 KiB, kept as an asset. */
export interface Kept {
  asset: string;
  bytes: number;
  head: string;
}

export function readKept(v: unknown): Kept | null {
  if (!isRecord(v) || typeof v["asset"] !== "string") return null;
  return { asset: v["asset"], bytes: num(v["bytes"]) ?? 0, head: str(v["head"]) ?? "" };
}

/** Returns null for what is absent or no result. Of one that is kept elsewhere only the short fields are here. */
export function readResult(stored: unknown): Result | null {
  const v = isRecord(stored) && isRecord(stored["small"]) ? stored["small"] : stored;
  if (!isRecord(v) || typeof v["status"] !== "string") return null;
  return {
    status: oneOf(statuses, v["status"], "error"),
    outcome: oneOf(outcomes, v["outcome"], "failed"),
    text: str(v["text"]) ?? "",
    exit: num(v["exit"]),
    signal: str(v["signal"]),
    lines: num(v["lines"]),
    bytes: num(v["bytes"]),
    spool: str(v["spool"]),
    path: str(v["path"]),
    firstLine: num(v["firstLine"]),
    changes: readChanges(v["changes"]),
    ms: num(v["ms"]) ?? 0,
  };
}

function readChanges(v: unknown): Change[] {
  if (!Array.isArray(v)) return [];
  const changes: Change[] = [];
  for (const c of v) {
    if (!isRecord(c) || typeof c["path"] !== "string") continue;
    changes.push({
      path: c["path"],
      op: str(c["op"]) ?? "modify",
      added: num(c["added"]) ?? 0,
      removed: num(c["removed"]) ?? 0,
      diff: str(c["diff"]),
      cut: c["cut"] === true,
    });
  }
  return changes;
}

/** Returns the field when it is a string that is not empty. */
export function inputText(input: unknown, field: string): string {
  return (isRecord(input) && str(input[field])) || "";
}

const statuses: readonly Status[] = ["ok", "error", "denied", "timeout", "interrupted", "dropped"];
const outcomes: readonly Outcome[] = ["ok", "exit_nonzero", "rejected", "failed"];

function oneOf<T>(known: readonly T[], v: unknown, otherwise: T): T {
  return known.find((k) => k === v) ?? otherwise;
}

function str(v: unknown): string | undefined {
  return typeof v === "string" && v !== "" ? v : undefined;
}

function num(v: unknown): number | undefined {
  return typeof v === "number" && Number.isFinite(v) ? v : undefined;
}
