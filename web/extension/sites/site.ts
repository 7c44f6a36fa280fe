import type { SiteNotice } from "../../protocol/link";

/** Something that the site shows and that has a name. */
export type Notice = Pick<SiteNotice, "code" | "text" | "until">;

/** Where a page of the site is. */
export interface Place {
  /** Id of the chat shown, "" for none or one that has no lasting id yet. */
  conversation: string;
  /** Id of the project that the page belongs to, "" for none. */
  project: string;
  /** Whether the address is one that a new chat has for a moment only. */
  passing: boolean;
}

/** What a page knows of a send when it makes the request. */
export interface SendRequest {
  messageId: string;
  conversationId: string;
  text: string;
}

/** How far the composer is: missing, a placeholder before the app has started, unable to take text, or usable. */
export type ComposerState = "ready" | "hydrating" | "missing" | "disabled";

/** One message of the transcript. */
export interface ShownMessage {
  id: string;
  role: "user" | "assistant";
  text: string;
}

/** A project of the site. */
export interface Project {
  id: string;
  /** Where a new chat of it starts. */
  url: string;
}

/** What opens, fills and confirms the form for a new project. Each is looked up when it is needed; null when it is not there. */
export interface ProjectForm {
  open(doc: Document): HTMLElement | null;
  name(doc: Document): HTMLInputElement | null;
  /** The choice of a memory of its own, if the form has one. */
  ownMemory(doc: Document): HTMLElement | null;
  confirm(doc: Document): HTMLElement | null;
  cancel(doc: Document): HTMLElement | null;
}

/** What the isolated script needs to know of a site's pages. All of it only looks. */
export interface Site {
  readonly name: string;
  readonly origin: string;

  place(url: string): Place;
  /** Whether a tab at `have` needs no navigation to serve as `want`. */
  samePlace(have: string, want: string): boolean;

  composerState(doc: Document): ComposerState;
  /** The editable node, once the composer is ready. */
  editor(doc: Document): HTMLElement | null;
  /** The send button, if it is there; it may be disabled. */
  sendButton(doc: Document): HTMLButtonElement | null;
  /** The stop button, which is there while an answer is generated. */
  stopButton(doc: Document): HTMLButtonElement | null;
  /** The buttons that remove what is attached to the message. */
  attachmentRemovers(doc: Document): HTMLElement[];

  /** The messages shown, oldest first; the newest of them when a number is given. */
  messages(doc: Document, newest?: number): ShownMessage[];
  /** What the site complains of now; of several things, the most serious. */
  notices(doc: Document): Notice[];
  /** What closes each dialog in which the site told a notice. A dialog that was not read away keeps the page from taking text. */
  dismissals(doc: Document): HTMLElement[];

  projects(doc: Document): (Project & { name: string })[];
  readonly projectForm: ProjectForm;
}

/** What the script in the page's own world needs to know. */
export interface SiteWire {
  /** Whether a request delivers a message. */
  isSend(method: string, url: URL): boolean;
  /** Reads what a send's body tells of the message; fields are "" when it does not. */
  readSend(body: string): SendRequest;
  /** Finds the editor's node. */
  editor(doc: Document): HTMLElement | null;
}
