// The daemon's HTTP API: the page's only source of data.

import { isRecord, readEvent, readLive, type ThreadEvent } from "./event.ts";
import { token } from "./session.ts";
import type { Action, Approval, Folder, Hit, Live, Message, Rule, Thread, Result, Turn } from "../protocol/api.ts";

/** A refusal or failure in words for a person. */
export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 when the daemon did not answer. */
    readonly status: number,
    readonly code: string,
    text: string,
    readonly todo: string,
  ) {
    super(text);
  }
}

export interface BrowserInfo {
  id: string;
  label: string;
  version: string;
  connected: boolean;
  lastSeen: string;
}

export interface ModelInfo {
  name: string;
  label: string;
  ready: boolean;
  why: string;
}

export interface PairingInfo {
  code: string;
  label: string;
}

export interface ServerState {
  version: string;
  folders: Folder[];
  browsers: BrowserInfo[];
  pairings: PairingInfo[];
  models: ModelInfo[];
  approvals: number;
  defaultModel: string;
  /** The user agreed to a real chat site being driven. */
  consent: boolean;
  /** Number of the newest event: where the stream over all threads goes on. */
  lastEvent: number;
}

export interface Setting {
  key: string;
  section: string;
  type: string;
  value: string;
  default: string;
  min: string;
  max: string;
  options: string[];
  doc: string;
  set: boolean;
}

export interface Secret {
  name: string;
  set: boolean;
}

export interface DoctorCheck {
  name: string;
  state: string;
  text: string;
  todo: string;
}

export interface DirListing {
  path: string;
  parent: string;
  dirs: { name: string; path: string; git: boolean }[];
  /** There are more than are listed. */
  cut: boolean;
}

export interface ParsedReply {
  notes: string[];
  actions: { tool: string; attrs: Record<string, string>; body: string }[];
  answer: string;
  problems: string[];
  display: string;
  needsCorrection: boolean;
}

export interface NewThread {
  folder: string;
  text?: string;
  model?: string;
  level?: string;
  title?: string;
}

export interface ThreadPatch {
  title?: string;
  model?: string;
  level?: string;
  pinned?: boolean;
  archived?: boolean;
  deleted?: boolean;
  readSeq?: number;
}

export type Decision = "allow" | "always" | "deny";

interface Call {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

let onUnauthorized: () => void = () => undefined;

/** Names who hears that the bearer is not taken any more. */
export function whenUnauthorized(heard: () => void): void {
  onUnauthorized = heard;
}

/** Makes a request with the bearer. Rejects with ApiError only when the daemon does not answer. */
export async function request(path: string, call: Call = {}): Promise<Response> {
  const headers: Record<string, string> = { Authorization: `Bearer ${token()}`, ...call.headers };
  if (call.body !== undefined) headers["Content-Type"] = "application/json";
  try {
    const response = await fetch(path, {
      method: call.method ?? "GET",
      headers,
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal: call.signal ?? null,
      cache: "no-store",
      redirect: "error",
    });
    if (response.status === 401) onUnauthorized();
    return response;
  } catch (err) {
    if (call.signal?.aborted) throw err;
    throw new ApiError(0, "no-answer", "Plexus does not answer. Nothing was changed.", "Check that the daemon runs: plexus serve");
  }
}

async function json(path: string, call?: Call): Promise<unknown> {
  const response = await request(path, call);
  const text = await response.text();
  let body: unknown = null;
  try {
    body = text === "" ? null : JSON.parse(text);
  } catch {
    body = null;
  }
  if (response.ok) return body;
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
  throw new ApiError(
    response.status,
    string(error["code"]) || "http",
    string(error["text"]) || `Plexus answered with status ${response.status}.`,
    string(error["todo"]),
  );
}

/** The list in the answer: bare, or under the name. A null list is empty. */
async function list<T>(path: string, name: string, signal?: AbortSignal): Promise<T[]> {
  const body = await json(path, { signal });
  const items = isRecord(body) ? body[name] : body;
  return Array.isArray(items) ? (items as T[]) : [];
}

async function one<T>(path: string, call?: Call): Promise<T> {
  const body = await json(path, call);
  if (!isRecord(body)) throw new ApiError(200, "bad-response", "Plexus answered something that this page does not understand.", "Reload the page.");
  return body as T;
}

function string(v: unknown): string {
  return typeof v === "string" ? v : "";
}

const id = encodeURIComponent;

export async function getState(signal?: AbortSignal): Promise<ServerState> {
  const s = await one<Partial<ServerState>>("/api/state", { signal });
  return {
    version: s.version ?? "",
    folders: s.folders ?? [],
    browsers: s.browsers ?? [],
    pairings: s.pairings ?? [],
    models: s.models ?? [],
    approvals: s.approvals ?? 0,
    defaultModel: s.defaultModel ?? "",
    consent: s.consent ?? false,
    lastEvent: s.lastEvent ?? 0,
  };
}

// Folders

export const addFolder = (path: string, level?: string) =>
  one<Folder>("/api/folders", { method: "POST", body: { path, level } });
export const setFolderLevel = (folder: string, level: string) =>
  json(`/api/folders/${id(folder)}`, { method: "PATCH", body: { level } });
export const removeFolder = (folder: string) => json(`/api/folders/${id(folder)}`, { method: "DELETE" });
export async function getDirs(path: string, signal?: AbortSignal): Promise<DirListing> {
  const d = await one<Partial<DirListing>>(`/api/dirs?path=${id(path)}`, { signal });
  return { path: d.path ?? path, parent: d.parent ?? "", dirs: d.dirs ?? [], cut: d.cut ?? false };
}
export const getRules = (folder: string, signal?: AbortSignal) => list<Rule>(`/api/rules?folder=${id(folder)}`, "rules", signal);
export const removeRule = (rule: string) => json(`/api/rules/${id(rule)}`, { method: "DELETE" });

// Threads

export type ThreadList = "active" | "archived" | "deleted";
export const getThreads = (which: ThreadList, signal?: AbortSignal) =>
  list<Thread>(which === "active" ? "/api/threads" : `/api/threads?${which}=true`, "threads", signal);
export const getThread = (thread: string, signal?: AbortSignal) => one<Thread>(`/api/threads/${id(thread)}`, { signal });
export const createThread = (thread: NewThread) => one<Thread>("/api/threads", { method: "POST", body: thread });
export const patchThread = (thread: string, patch: ThreadPatch) =>
  one<Thread>(`/api/threads/${id(thread)}`, { method: "PATCH", body: patch });
/** Moves the thread to the bin. */
export const deleteThread = (thread: string) => one<Thread>(`/api/threads/${id(thread)}`, { method: "DELETE" });

export async function getEvents(
  thread: string,
  at: { after: number } | { before: number },
  limit: number,
  signal?: AbortSignal,
): Promise<ThreadEvent[]> {
  const from = "after" in at ? `after=${at.after}` : `before=${at.before}`;
  const raw = await list<unknown>(`/api/threads/${id(thread)}/events?${from}&limit=${limit}`, "events", signal);
  return raw.map(readEvent).filter((e) => e !== null);
}

/** The text of the streaming reply so far. */
export async function getLive(thread: string, signal?: AbortSignal): Promise<Live[]> {
  const raw = await list<unknown>(`/api/threads/${id(thread)}/live`, "live", signal);
  return raw.map(readLive).filter((l) => l !== null);
}

export const openThreadStream = (thread: string, after: number, signal: AbortSignal) =>
  request(`/api/threads/${id(thread)}/stream?after=${after}`, {
    signal,
    headers: { Accept: "text/event-stream", "Last-Event-ID": String(after) },
  });

/** Events of all threads that change lists. */
export const openStream = (after: number, signal: AbortSignal) =>
  request(`/api/stream?after=${after}`, { signal, headers: { Accept: "text/event-stream", "Last-Event-ID": String(after) } });

// Turns

export const sendTask = (thread: string, text: string) =>
  one<Turn>(`/api/threads/${id(thread)}/turns`, { method: "POST", body: { text } });
export const editTurn = (turn: string, task: string) => json(`/api/turns/${id(turn)}`, { method: "PATCH", body: { task } });
export const removeTurn = (turn: string) => json(`/api/turns/${id(turn)}`, { method: "DELETE" });
export const orderQueue = (thread: string, order: string[]) =>
  json(`/api/threads/${id(thread)}/queue`, { method: "POST", body: { order } });
export const stopThread = (thread: string) => json(`/api/threads/${id(thread)}/stop`, { method: "POST", body: {} });
export const getTurns = (thread: string, signal?: AbortSignal) => list<Turn>(`/api/threads/${id(thread)}/turns`, "turns", signal);

// Approvals, actions, messages

export const getApprovals = (signal?: AbortSignal) => list<Approval>("/api/approvals?state=pending", "approvals", signal);
export const answerApproval = (approval: string, decision: Decision, reason: string) =>
  one<Approval>(`/api/approvals/${id(approval)}`, { method: "POST", body: { decision, reason } });
export const getAction = (action: string, signal?: AbortSignal) => one<Action>(`/api/actions/${id(action)}`, { signal });
export const getMessage = (message: string, signal?: AbortSignal) => one<Message>(`/api/messages/${id(message)}`, { signal });

/** Output of an action as text; at most `limit` bytes of it, from the end when `tail`. */
export async function getOutput(action: string, limit: number, signal?: AbortSignal): Promise<{ text: string; total: number; cut: boolean }> {
  const response = await request(`/api/actions/${id(action)}/output`, { signal, headers: { Range: `bytes=0-${limit - 1}` } });
  if (response.status === 416) return { text: "", total: 0, cut: false };
  if (!response.ok) throw new ApiError(response.status, "output", "The output is not kept any more.", "");
  const text = await response.text();
  const range = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "");
  const total = range ? Number(range[1]) : Number(response.headers.get("Content-Length") ?? text.length);
  return { text, total, cut: response.status === 206 && total > limit };
}

// Settings, secrets, connections, the rest

export async function getSettings(signal?: AbortSignal): Promise<Setting[]> {
  const raw = await list<Partial<Setting>>("/api/settings", "settings", signal);
  return raw.map((s) => ({
    key: s.key ?? "",
    section: s.section ?? "",
    type: s.type ?? "text",
    value: String(s.value ?? ""),
    default: String(s.default ?? ""),
    min: String(s.min ?? ""),
    max: String(s.max ?? ""),
    options: s.options ?? [],
    doc: s.doc ?? "",
    set: s.set === true,
  }));
}
export const putSetting = (key: string, value: string) => json(`/api/settings/${id(key)}`, { method: "PUT", body: { value } });
export const resetSetting = (key: string) => json(`/api/settings/${id(key)}`, { method: "DELETE" });
export async function getSecrets(signal?: AbortSignal): Promise<{ secrets: Secret[]; place: string }> {
  const s = await one<{ secrets?: Secret[]; place?: string }>("/api/secrets", { signal });
  return { secrets: s.secrets ?? [], place: s.place ?? "" };
}
export const putSecret = (name: string, value: string) => json(`/api/secrets/${id(name)}`, { method: "PUT", body: { value } });
export const removeSecret = (name: string) => json(`/api/secrets/${id(name)}`, { method: "DELETE" });
export const answerPairing = (code: string, approve: boolean) =>
  json(`/api/pairings/${id(code)}`, { method: "POST", body: { approve } });
export const removeBrowser = (browser: string) => json(`/api/browsers/${id(browser)}`, { method: "DELETE" });
export const agree = (site: string) => json("/api/consent", { method: "POST", body: { site, agreed: true } });
export const getDoctor = (signal?: AbortSignal) => list<DoctorCheck>("/api/doctor", "checks", signal);
export const search = (query: string, signal?: AbortSignal) => list<Hit>(`/api/search?q=${id(query)}`, "hits", signal);
export async function parseReply(text: string, rendered: boolean, signal?: AbortSignal): Promise<ParsedReply> {
  const r = await one<Partial<ParsedReply>>("/api/parse", { method: "POST", body: { text, rendered }, signal });
  return {
    notes: r.notes ?? [],
    actions: r.actions ?? [],
    answer: r.answer ?? "",
    problems: r.problems ?? [],
    display: r.display ?? "",
    needsCorrection: r.needsCorrection ?? false,
  };
}
export const runTool = (name: string, folder: string, input: unknown) =>
  one<Result>(`/api/tools/${id(name)}`, { method: "POST", body: { folder, input } });
