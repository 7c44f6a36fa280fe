/** One server-sent event. */
export interface ServerEvent {
  event: string;
  data: string;
}

/** Takes an event stream apart, however it was cut. */
export class EventParser {
  #rest = "";

  push(text: string): ServerEvent[] {
    const blocks = (this.#rest + text).split(/\r?\n\r?\n/);
    this.#rest = blocks.pop() ?? "";
    return blocks.map(parseBlock).filter((e) => e.data !== "");
  }
}

function parseBlock(block: string): ServerEvent {
  const out: ServerEvent = { event: "message", data: "" };
  for (const line of block.split(/\r?\n/)) {
    const at = line.indexOf(":");
    if (at <= 0) continue;
    const value = line.slice(at + 1).replace(/^ /, "");
    if (line.startsWith("event:")) out.event = value;
    if (line.startsWith("data:")) out.data += (out.data === "" ? "" : "\n") + value;
  }
  return out;
}

/** Reads all events of a response body. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    for (const event of parser.push(done ? decoder.decode() : decoder.decode(value, { stream: true }))) {
      yield event;
    }
    if (done) return;
  }
}

/** A message as the wire has it, as far as this page cares. */
export interface WireMessage {
  id: string;
  author: { role: string };
  content: { content_type: string; parts?: string[]; thoughts?: { summary: string; content: string }[]; content?: string };
  status: string;
  channel: string | null;
  recipient: string;
  metadata: { is_visually_hidden_from_conversation?: boolean };
}

type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

interface Operation {
  p?: string;
  o?: string;
  v?: Value;
  c?: number;
}

/** Builds messages out of deltas: one document for each cursor, with path and operation carried over. */
export class DeltaReader {
  readonly messages: WireMessage[] = [];
  #documents = new Map<number, { [key: string]: Value }>();
  #cursor = 0;
  #path = "";
  #operation = "add";

  apply(raw: unknown): void {
    const op = raw as Operation;
    if (op.c !== undefined) this.#cursor = op.c;
    if (op.p !== undefined) this.#path = op.p;
    if (op.o !== undefined) this.#operation = op.o;
    if (isBatch(op.v)) {
      for (const inner of op.v) this.#change(inner.p ?? this.#path, inner.o ?? "append", inner.v ?? null);
      return;
    }
    this.#change(this.#path, this.#operation, op.v ?? null);
  }

  #change(path: string, operation: string, value: Value): void {
    const keys = path.split("/").slice(1);
    if (keys.length === 0) {
      if (operation !== "add" || value === null || typeof value !== "object" || Array.isArray(value)) return;
      this.#documents.set(this.#cursor, value);
      this.messages.push(value["message"] as unknown as WireMessage);
      return;
    }
    let at: Value | undefined = this.#documents.get(this.#cursor);
    for (const key of keys.slice(0, -1)) at = child(at, key);
    const last = keys.at(-1) ?? "";
    if (at === null || typeof at !== "object") return;
    const target = at as { [key: string]: Value };
    target[last] = operation === "append" ? joined(target[last], value) : value;
  }
}

function isBatch(v: Value | undefined): v is (Operation & { [key: string]: Value })[] {
  return Array.isArray(v) && v.length > 0 && v.every((e) => e !== null && typeof e === "object" && !Array.isArray(e) && typeof e["p"] === "string");
}

function child(at: Value | undefined, key: string): Value | undefined {
  return at !== null && typeof at === "object" ? (at as { [key: string]: Value })[key] : undefined;
}

function joined(old: Value | undefined, value: Value): Value {
  if (typeof old === "string" && typeof value === "string") return old + value;
  if (Array.isArray(old)) return old.concat(value);
  if (old !== null && typeof old === "object" && value !== null && typeof value === "object") return { ...old, ...value } as Value;
  return value;
}
