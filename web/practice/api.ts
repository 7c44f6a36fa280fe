import type { WireMessage } from "./stream";

// Kept at load, as the real bundle does: whoever wraps fetch later than this is not seen.
const request = window.fetch.bind(window);

/** A failed request with the site's own code for it. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export interface Project {
  id: string;
  short_url: string;
  display: { name: string };
}

export interface ListedChat {
  id: string;
  title: string;
}

export interface Conversation {
  conversation_id: string;
  title: string;
  gizmo_id: string | null;
  current_node: string;
  mapping: Record<string, { message: WireMessage | null; parent: string | null }>;
}

export interface Attachment {
  name: string;
  text: string;
}

/** What a message is sent with. */
export interface Outgoing {
  messageId: string;
  text: string;
  attachments: Attachment[];
  conversationId: string | null;
  parentId: string;
  projectId: string | null;
  model: string;
}

/** The site's HTTP interface, as the page uses it. */
export class Api {
  #device = crypto.randomUUID();
  #session: Promise<string> | null = null;

  /** Tells whether somebody is signed in. */
  async signedIn(): Promise<boolean> {
    return (await this.#token()) !== "";
  }

  /** The session's token, which every request waits for. */
  #token(): Promise<string> {
    this.#session ??= request("/api/auth/session")
      .then((response) => response.json())
      .then((session: { accessToken?: string }) => session.accessToken ?? "");
    return this.#session;
  }

  async json<T>(method: "GET" | "POST", path: string, body?: unknown): Promise<T> {
    return (await (await this.#request(method, path, body)).json()) as T;
  }

  /** Sends a message with all papers that the site wants, and returns its stream. */
  async send(out: Outgoing, signal: AbortSignal): Promise<Response> {
    const prepared = await this.json<{ prepare_token: string }>("POST", "/backend-api/sentinel/chat-requirements/prepare", { p: "" });
    const papers = await this.json<{ token: string }>("POST", "/backend-api/sentinel/chat-requirements/finalize", {
      prepare_token: prepared.prepare_token,
    });
    const conduit = await this.json<{ conduit_token: string }>("POST", "/backend-api/f/conversation/prepare", { action: "next" });
    const headers = {
      accept: "text/event-stream",
      "openai-sentinel-chat-requirements-token": papers.token,
      "openai-sentinel-proof-token": `gAAAAAB${crypto.randomUUID()}`,
      "x-conduit-token": conduit.conduit_token,
      "x-oai-turn-trace-id": crypto.randomUUID(),
    };
    return this.#request("POST", "/backend-api/f/conversation", sendBody(out), headers, signal);
  }

  /** Resumes the stream of a turn from an item on; token may be empty at the start. */
  resume(conversationId: string, offset: number, token: string, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (token !== "") headers["x-conduit-token"] = token;
    return this.#request("POST", "/backend-api/f/conversation/resume", { conversation_id: conversationId, offset }, headers, signal);
  }

  async #request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    const init: RequestInit = {
      method,
      headers: { ...headers, authorization: `Bearer ${await this.#token()}`, "oai-device-id": this.#device },
    };
    if (signal) init.signal = signal;
    if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers = { ...init.headers, "content-type": "application/json" };
    }
    const response = await request(path, init);
    if (response.ok) return response;
    const failure = (await response.json().catch(() => ({}))) as { detail?: { code?: string; message?: string } };
    throw new ApiError(response.status, failure.detail?.code ?? "", failure.detail?.message ?? response.statusText);
  }
}

function sendBody(out: Outgoing): unknown {
  return {
    action: "next",
    messages: [
      {
        id: out.messageId,
        author: { role: "user" },
        create_time: Date.now() / 1000,
        content: { content_type: "text", parts: [out.text] },
        metadata: {
          serialization_metadata: { custom_symbol_offsets: [] },
          submission_mode: "manual_send",
          ...(out.attachments.length > 0 && {
            attachments: out.attachments.map((a) => ({ name: a.name, size: a.text.length, mime_type: "text/plain" })),
          }),
        },
      },
    ],
    ...(out.conversationId !== null && { conversation_id: out.conversationId }),
    parent_message_id: out.parentId,
    model: out.model,
    client_prepare_state: "success",
    conversation_mode: out.projectId === null ? { kind: "primary_assistant" } : { kind: "gizmo_interaction", gizmo_id: out.projectId },
    supported_encodings: ["v1"],
    supports_buffering: true,
    system_hints: [],
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}
