// How numbers, times and states are said.

import type { Action, TurnState } from "../protocol/api.ts";

/** "0.4 s", "12 s", "3 min 5 s", "2 h 4 min". */
export function duration(ms: number): string {
  if (ms < 0 || !Number.isFinite(ms)) ms = 0;
  if (ms < 1000) return ms < 100 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return elapsed(ms);
}

/** Like duration, in whole seconds: for a line that counts. */
export function elapsed(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  const min = Math.floor(s / 60);
  if (min < 60) return `${min} min ${s % 60} s`;
  return `${Math.floor(min / 60)} h ${min % 60} min`;
}

/** "812 B", "3.4 KB", "1.2 MB". */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} KB`;
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
}

/** "1 file", "3 files". */
export function count(n: number, one: string, many = one + "s"): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** "now", "5 min", "3 h", "yesterday", "12 Mar": for lists. */
export function ago(time: string, now: number): string {
  const at = Date.parse(time);
  if (!Number.isFinite(at)) return "";
  const s = (now - at) / 1000;
  if (s < 60) return "now";
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h`;
  if (s < 2 * 86_400) return "yesterday";
  if (s < 7 * 86_400) return `${Math.floor(s / 86_400)} d`;
  const date = new Date(at);
  const options: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
  if (now - at > 300 * 86_400_000) options.year = "numeric";
  return date.toLocaleDateString("en-GB", options);
}

/** What goes on in a turn, when nobody said it better. */
export function turnStatus(state: TurnState, running: Action | undefined): string {
  switch (state) {
    case "queued":
      return "Queued";
    case "composing":
      return "Preparing the message";
    case "sending":
      return "Sending to the model";
    case "streaming":
      return "Waiting for the model";
    case "acting":
      return running ? `Running ${running.title}` : "Running the actions";
    case "waiting":
      return "Waiting for your approval";
    case "returning":
      return "Returning the results";
    case "answered":
      return "Answered";
    case "failed":
      return "Failed";
    case "stopped":
      return "Stopped";
  }
}

/** A thread's state in a word or two, for its row and for screen readers. */
export function threadState(state: string): string {
  switch (state) {
    case "idle":
    case "answered":
    case "stopped":
    case "failed":
      return "";
    case "queued":
      return "queued";
    case "waiting":
      return "waiting for approval";
    default:
      return "working";
  }
}
