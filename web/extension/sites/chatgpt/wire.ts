import type { SendRequest, SiteWire } from "../site";
import { editor } from "./composer";

/** Paths of a send. The path of its preparation is longer, and is none. */
const sendPaths = ["/backend-api/f/conversation", "/backend-api/conversation", "/backend-anon/f/conversation", "/backend-anon/conversation"];

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function readSend(body: string): SendRequest {
  const none: SendRequest = { messageId: "", conversationId: "", text: "" };
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return none;
  }
  if (typeof parsed !== "object" || parsed === null) return none;
  const { messages, conversation_id } = parsed as { messages?: unknown; conversation_id?: unknown };
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const { id, content } = (typeof last === "object" && last !== null ? last : {}) as { id?: unknown; content?: unknown };
  const parts: unknown = typeof content === "object" && content !== null ? (content as { parts?: unknown }).parts : undefined;
  return { messageId: text(id), conversationId: text(conversation_id), text: Array.isArray(parts) ? parts.map(text).join("\n") : "" };
}

export const chatgptWire: SiteWire = {
  isSend: (method, url) => method.toUpperCase() === "POST" && sendPaths.includes(url.pathname),
  readSend,
  editor,
};
