import { Api, ApiError, type Attachment, type Conversation, type ListedChat, type Project } from "./api";
import type { Boot } from "./boot";
import { writeDraft } from "./drafts";
import { parseRoute, projectId, routePath, type Route } from "./route";
import { SiteSocket } from "./socket";
import { DeltaReader, EventParser, readEvents, type ServerEvent, type WireMessage } from "./stream";

/** One message as the transcript shows it. */
export interface Row {
  key: string;
  role: "user" | "assistant";
  messageId: string | null;
  text: string;
  thoughts: string;
  recap: string;
  streaming: boolean;
  error: string | null;
}

export interface State {
  route: Route;
  rows: Row[];
  title: string;
  projects: Project[];
  chats: ListedChat[];
  projectChats: ListedChat[];
  /** An answer is being waited for or streamed. */
  busy: boolean;
  notice: string | null;
  rateLimited: boolean;
  missing: boolean;
  signedIn: boolean;
  model: string;
  /** Changes when the editor has to be built anew, which drops what was typed. */
  editor: number;
}

interface Handoff {
  type?: string;
  token?: string;
  conversation_id?: string;
  options?: { type: string; topic_id: string }[];
  title?: string;
  error?: unknown;
}

/** What a stream told so far about where its answer comes. */
interface Ticket {
  token: string;
  next: { type: string; topic_id: string } | null;
  seen: number;
}

const root = "client-created-root";

/** The state of the app and everything that changes it. */
export class Chat {
  readonly api = new Api();
  readonly #socket = new SiteSocket(this.api);
  readonly #boot: Boot;
  readonly #listeners = new Set<() => void>();
  #state: State;
  #abort: AbortController | null = null;
  #painting = false;
  #stopping = false;

  constructor(boot: Boot) {
    this.#boot = boot;
    this.#state = {
      route: parseRoute(location.pathname),
      rows: [],
      title: "",
      projects: [],
      chats: [],
      projectChats: [],
      busy: false,
      notice: null,
      rateLimited: false,
      missing: false,
      signedIn: true,
      model: "gpt-practice",
      editor: 0,
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): State => this.#state;

  #set(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Signs in and loads what the address names, unless the user was faster. */
  async start(): Promise<void> {
    addEventListener("popstate", () => void this.#enter(parseRoute(location.pathname)));
    const { route } = this.#state;
    if (!(await this.api.signedIn())) {
      this.#set({ signedIn: false });
      return;
    }
    this.#socket.open().catch(() => undefined);
    const shown = this.#state.route === route ? this.#show(route) : null;
    await Promise.all([this.refreshLists(), shown]);
  }

  async refreshLists(): Promise<void> {
    const [projects, chats] = await Promise.all([
      this.api.json<{ items: { gizmo: { gizmo: Project } }[] }>("GET", "/backend-api/gizmos/snorlax/sidebar?owned_only=true&conversations_per_gizmo=1&limit=50"),
      this.api.json<{ items: ListedChat[] }>("GET", "/backend-api/conversations?offset=0&limit=28&order=updated"),
    ]);
    this.#set({ projects: projects.items.map((i) => i.gizmo.gizmo), chats: chats.items });
    const { route } = this.#state;
    if (route.kind !== "project") return;
    const inside = await this.api.json<{ items: ListedChat[] }>("GET", `/backend-api/gizmos/${projectId(route.project)}/conversations?cursor=0&limit=28`);
    this.#set({ projectChats: inside.items });
  }

  /** Goes to another view of the app. */
  go(route: Route): void {
    history.pushState(null, "", routePath(route));
    void this.#enter(route);
  }

  async #enter(route: Route): Promise<void> {
    this.#abort?.abort();
    this.#set({ route, rows: [], title: "", busy: false, notice: null, missing: false, editor: this.#state.editor + 1 });
    document.title = "ChatGPT";
    await this.#show(route);
  }

  /** Loads what a view is about. */
  async #show(route: Route): Promise<void> {
    if (route.kind === "chat") await this.#load(route);
    if (route.kind === "project") await this.refreshLists();
  }

  async #load(route: Route & { kind: "chat" }): Promise<void> {
    let conversation: Conversation;
    try {
      conversation = await this.api.json<Conversation>("GET", `/backend-api/conversation/${route.id}`);
    } catch {
      this.#set({ missing: true });
      return;
    }
    if (this.#state.route !== route) return;
    this.#set({ rows: storedRows(conversation) });
    this.#entitle(conversation.title);
    if (conversation.gizmo_id !== null && route.project === null) {
      setTimeout(() => this.#redirect(route, conversation.gizmo_id ?? ""), this.#boot.redirectMs);
    }
    const { status } = await this.api.json<{ status: string }>("GET", `/backend-api/conversation/${route.id}/stream_status`);
    if (status === "IS_STREAMING" && this.#state.route.kind === "chat" && this.#state.route.id === route.id) {
      await this.#read((signal) => this.api.resume(route.id, 0, "", signal));
    }
  }

  /** Moves a chat of a project to its proper address, and builds the editor anew as it does. */
  #redirect(from: Route & { kind: "chat" }, gizmo: string): void {
    if (this.#state.route !== from) return;
    const route: Route = { kind: "chat", id: from.id, project: this.#projectRef(gizmo) };
    writeDraft(from.id, "");
    history.replaceState(null, "", routePath(route));
    this.#set({ route, editor: this.#state.editor + 1 });
  }

  #projectRef(id: string): string {
    return this.#state.projects.find((p) => p.id === id)?.short_url ?? id;
  }

  #entitle(title: string): void {
    this.#set({ title });
    document.title = title === "" ? "ChatGPT" : `${title} - ChatGPT`;
  }

  /** Sends a message. Resolves to false when the site refused it and the text should stay in the composer. */
  async send(text: string, attachments: Attachment[]): Promise<boolean> {
    const { route, rows } = this.#state;
    const messageId = crypto.randomUUID();
    const conversationId = route.kind === "chat" ? route.id : null;
    const parentId = rows.findLast((r) => r.messageId !== null)?.messageId ?? root;
    const project = route.kind === "new" ? null : route.project;
    const asked: Row = { key: messageId, role: "user", messageId, text, thoughts: "", recap: "", streaming: false, error: null };
    this.#set({ rows: [...rows, asked], busy: true, notice: null });
    if (conversationId === null) {
      const passing: Route = { kind: "chat", id: `WEB:${crypto.randomUUID()}`, project: null };
      history.pushState(null, "", routePath(passing));
      this.#set({ route: passing });
    }
    const refused = await this.#read((signal) =>
      this.api.send(
        {
          messageId,
          text,
          attachments,
          conversationId,
          parentId,
          projectId: project === null ? null : projectId(project),
          model: this.#state.model,
        },
        signal,
      ),
      project,
    );
    if (!refused) {
      void this.refreshLists();
      return true;
    }
    this.#set({ rows, route });
    history.replaceState(null, "", routePath(route));
    return false;
  }

  /** Stops the answer, here and at the site. A new chat is stopped as soon as the site has told its id. */
  async stop(): Promise<void> {
    const { route } = this.#state;
    if (route.kind !== "chat") return;
    this.#stopping = route.id.startsWith("WEB:");
    if (this.#stopping) return;
    this.#abort?.abort();
    await this.api.json("POST", "/backend-api/stop_conversation", { conversation_id: route.id });
  }

  /** Loads the chat again after an error; a chat of which the site told no id begins anew. */
  retry(): void {
    const { route } = this.#state;
    if (route.kind !== "chat") return;
    if (route.id.startsWith("WEB:")) {
      this.go({ kind: "new" });
      return;
    }
    void this.#enter({ ...route });
  }

  dismiss(): void {
    this.#set({ notice: null, rateLimited: false });
  }

  choose(model: string): void {
    this.#set({ model });
  }

  async createProject(name: string, memory: string): Promise<void> {
    const made = await this.api.json<{ resource: { gizmo: Project } }>("POST", "/backend-api/gizmos/snorlax/upsert", {
      display: { name, description: "", prompt_starters: [] },
      instructions: "",
      memory_scope: memory,
    });
    await this.refreshLists();
    this.go({ kind: "project", project: made.resource.gizmo.short_url });
  }

  /** Reads an answer to its end, wherever it comes from. Returns true when the message was refused. */
  async #read(begin: (signal: AbortSignal) => Promise<Response>, project: string | null = null): Promise<boolean> {
    const abort = new AbortController();
    this.#abort = abort;
    const reader = new DeltaReader();
    const ticket: Ticket = { token: "", next: null, seen: 0 };
    const base = this.#state.rows;
    const paint = (): void => this.#paint(base, reader, true);
    const take = (event: ServerEvent): void => {
      this.#take(event, reader, ticket, project);
      if (!this.#painting && !abort.signal.aborted) {
        this.#painting = true;
        // A timer and not a frame: hidden tabs get no frames.
        setTimeout(() => {
          this.#painting = false;
          if (this.#abort === abort && !abort.signal.aborted) paint();
        }, 16);
      }
    };
    this.#stopping = false;
    this.#set({ busy: true });
    try {
      await drain(await begin(abort.signal), take);
      while (ticket.next !== null) {
        const next = ticket.next;
        ticket.next = null;
        await this.#follow(next, ticket, take, abort.signal);
      }
    } catch (error) {
      if (this.#abort !== abort) return false;
      this.#abort = null;
      if (abort.signal.aborted) {
        this.#paint(base, reader, false);
        this.#set({ busy: false });
        return false;
      }
      return this.#failed(error, base, reader);
    }
    if (this.#abort !== abort) return false;
    this.#abort = null;
    this.#paint(base, reader, false);
    this.#set({ busy: false });
    return false;
  }

  async #follow(next: { type: string; topic_id: string }, ticket: Ticket, take: (e: ServerEvent) => void, signal: AbortSignal): Promise<void> {
    const { route } = this.#state;
    if (next.type === "resume_sse_endpoint" && route.kind === "chat") {
      await drain(await this.api.resume(route.id, 0, ticket.token, signal), take);
      return;
    }
    const parser = new EventParser();
    await this.#socket.follow(next.topic_id, (encoded) => parser.push(encoded).forEach(take), signal);
  }

  #failed(error: unknown, base: Row[], reader: DeltaReader): boolean {
    this.#set({ busy: false });
    if (error instanceof ApiError && error.code === "message_length_exceeds_limit") {
      this.#set({ notice: error.message });
      return true;
    }
    if (error instanceof ApiError && error.status === 429) {
      this.#set({ rateLimited: true });
      return true;
    }
    const text =
      error instanceof ApiError || error instanceof StreamError
        ? error.message
        : "A network error occurred. Please check your connection and try again.";
    this.#paint(base, reader, false, text);
    return false;
  }

  #take(event: ServerEvent, reader: DeltaReader, ticket: Ticket, project: string | null): void {
    if (event.data === "[DONE]" || event.event === "delta_encoding") return;
    const payload: unknown = JSON.parse(event.data);
    if (event.event === "delta") {
      reader.apply(payload);
      return;
    }
    const told = payload as Handoff;
    switch (told.type) {
      case "resume_conversation_token":
        ticket.token = told.token ?? "";
        this.#settle(told.conversation_id ?? "", project);
        break;
      case "stream_handoff":
        ticket.next = told.options?.[0] ?? null;
        break;
      case "title_generation":
        this.#entitle(told.title ?? "");
        break;
      case "error":
        throw new StreamError(typeof told.error === "string" ? told.error : "Something went wrong.");
    }
  }

  /** Gives a new chat the address that it will keep. */
  #settle(id: string, project: string | null): void {
    const { route } = this.#state;
    if (route.kind !== "chat" || !route.id.startsWith("WEB:") || id === "") return;
    const settled: Route = { kind: "chat", id, project };
    history.replaceState(null, "", routePath(settled));
    this.#set({ route: settled });
    if (this.#stopping) void this.stop();
  }

  #paint(base: Row[], reader: DeltaReader, streaming: boolean, error: string | null = null): void {
    const row = answerRow(reader.messages, streaming, error);
    this.#set({ rows: row === null ? base : [...base, row] });
  }
}

class StreamError extends Error {}

async function drain(response: Response, take: (e: ServerEvent) => void): Promise<void> {
  if (response.body === null) return;
  for await (const event of readEvents(response.body)) take(event);
}

/** The one row that the messages of an answer make; null before there is anything to show. */
function answerRow(messages: WireMessage[], streaming: boolean, error: string | null): Row | null {
  const row: Row = { key: "answer", role: "assistant", messageId: null, text: "", thoughts: "", recap: "", streaming, error };
  for (const m of messages) {
    if (m.author.role !== "assistant" || m.recipient !== "all") continue;
    switch (m.content.content_type) {
      case "thoughts":
        row.thoughts += (m.content.thoughts ?? []).map((t) => t.content).join("\n");
        break;
      case "reasoning_recap":
        row.recap = m.content.content ?? "";
        break;
      case "text":
        row.text += (m.content.parts ?? []).join("");
        row.messageId = m.id;
        row.key = m.id;
        break;
    }
  }
  // While it streams, prose has no message id yet.
  if (streaming) row.messageId = null;
  return row;
}

/** The rows of a conversation that was loaded whole. */
function storedRows(conversation: Conversation): Row[] {
  const rows: Row[] = [];
  for (let at: string | null = conversation.current_node; at !== null; ) {
    const node: Conversation["mapping"][string] | undefined = conversation.mapping[at];
    const m = node?.message;
    if (m && (m.author.role === "user" || m.author.role === "assistant")) {
      const text = (m.content.parts ?? []).join("");
      rows.push({ key: m.id, role: m.author.role, messageId: m.id, text, thoughts: "", recap: "", streaming: false, error: null });
    }
    at = node?.parent ?? null;
  }
  return rows.reverse();
}
