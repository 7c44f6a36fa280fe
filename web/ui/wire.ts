// The API's types as the page uses them, and the checks that turn what came
// over the wire into them. Field checks stop at what decides a branch: the page
// and the daemon are one build.

export interface Folder {
  id: string;
  name: string;
  path: string;
  level: string;
  created: string;
}

export interface Thread {
  id: string;
  folder: string;
  title: string;
  model: string;
  level?: string;
  state: TurnState | "idle";
  queued: number;
  pinned?: boolean;
  archived?: boolean;
  deleted?: boolean;
  lastSeq: number;
  readSeq: number;
  created: string;
  updated: string;
}

export type TurnState =
  | "queued"
  | "composing"
  | "sending"
  | "streaming"
  | "acting"
  | "waiting"
  | "returning"
  | "answered"
  | "failed"
  | "stopped";

export interface Turn {
  id: string;
  thread: string;
  task: string;
  state: TurnState;
  round: number;
  position: number;
  code?: string;
  reason?: string;
  since: string;
  created: string;
  started?: string;
  ended?: string;
}

export type Delivery = "" | "attempting" | "dispatched" | "accepted" | "unknown" | "failed";
export type MessageKind = "user" | "results" | "correction" | "reply";

export interface Message {
  id: string;
  thread: string;
  turn: string;
  round: number;
  kind: MessageKind;
  text: string;
  wire?: string;
  final: boolean;
  recovered: boolean;
  delivery: Delivery;
  receipt?: string;
  model?: string;
  created: string;
}

export interface Note {
  message: string;
  round: number;
  text: string;
}

export interface Answer {
  message: string;
  text: string;
}

export interface Notice {
  code: string;
  tone: string;
  text: string;
  todo?: string;
}

export type ActionState = "intended" | "waiting" | "running" | "done";

export interface Action {
  id: string;
  thread?: string;
  turn?: string;
  round?: number;
  n?: number;
  folder: string;
  tool: string;
  title: string;
  input: unknown;
  door: string;
  actor?: string;
  state: ActionState;
  decision?: string;
  outcome?: string;
  result?: unknown;
  created: string;
  ended?: string;
}

export interface Change {
  path: string;
  op: string;
  added: number;
  removed: number;
  diff?: string;
  cut?: boolean;
}

export interface ToolResult {
  status: string;
  outcome: string;
  text: string;
  exit?: number;
  signal?: string;
  lines?: number;
  bytes?: number;
  spool?: string;
  path?: string;
  firstLine?: number;
  changes?: Change[] | null;
  ms: number;
}

export interface Approval {
  id: string;
  thread?: string;
  turn?: string;
  action: string;
  folder: string;
  tool: string;
  title: string;
  command?: string;
  dir?: string;
  diff?: string;
  boundary?: string;
  reasons: string[] | null;
  state: string;
  always?: string;
  reason?: string;
  by?: string;
  created: string;
  answered?: string;
}

export interface Rule {
  id: string;
  folder: string;
  kind: string;
  pattern: string;
  created: string;
}

export interface Live {
  thread: string;
  turn?: string;
  kind: string;
  of?: string;
  index?: number;
  offset: number;
  text: string;
}
