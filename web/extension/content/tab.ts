import type { FramesResult, SendResult } from "../../protocol/link";
import { debug, debugging } from "../debug";
import { tabPort, type FromContent, type HeldTurn, type ToContent } from "../messages";
import type { Posted } from "../page/messages";
import type { Site } from "../sites/site";
import { asResponseError, Failure } from "./failure";
import { look, NoticeWatch } from "./look";
import type { PageScript } from "./page";
import { ensureProject } from "./project";
import { isThere, recover } from "./recover";
import { submit } from "./submit";
import { Updates } from "./updates";
import { beginAlike, until, type Clock } from "./wait";

/** How often an armed page is looked at for notices. */
const noticeEvery = 500;

/** A page younger than this is given another moment before it counts as ready, in milliseconds. */
const youngFor = 5000;
const settleFor = 300;

/** What the page holds of the turn in flight. */
interface Held {
  updates: Updates;
  send: string;
  stage: HeldTurn["stage"];
  messageId: string;
  text: string;
  clicked: boolean;
  /** Ends everything that runs for the turn. */
  stop: AbortController;
  go: PromiseWithResolvers<boolean>;
  posted: PromiseWithResolvers<Posted>;
}

/**
 * One document of a site. It is inert until the worker connects, which it does only to tabs that are ours; it holds
 * a turn's updates when the worker dies, and calls for a new one.
 */
export class Tab implements Clock {
  readonly #site: Site;
  readonly #page: PageScript;
  readonly #doc = crypto.randomUUID();
  /** Ends with the document. */
  readonly #life: AbortSignal;
  #port: chrome.runtime.Port | null = null;
  #held: Held | null = null;
  #recovering: AbortController | null = null;
  #sleeps = new Map<number, () => void>();
  #lastSleep = 0;

  constructor(site: Site, page: PageScript, life: AbortSignal) {
    this.#site = site;
    this.#page = page;
    this.#life = life;
    page.onStream = (piece) => this.#held?.updates.add(piece);
    page.onPosted = (posted) => this.#posted(posted);
  }

  /** Takes a connection of the worker; an earlier one ends. */
  connect(port: chrome.runtime.Port): void {
    if (port.name !== tabPort) return;
    this.#port?.disconnect();
    this.#port = port;
    port.onMessage.addListener((message: ToContent) => this.#take(message));
    port.onDisconnect.addListener(() => {
      if (this.#port === port) this.#lost();
    });
    this.#tell({ type: "here", doc: this.#doc, url: location.href, held: this.#fact() });
    this.#held?.updates.taken();
  }

  /** The worker is gone. A page that holds a turn wakes a new one. */
  #lost(): void {
    this.#port = null;
    this.#sleeps.clear(); // the page's own timers end these
    if (this.#held === null || this.#life.aborted) return;
    try {
      void chrome.runtime.sendMessage({ type: "wake" }).catch(() => undefined);
    } catch {
      // The extension itself was replaced: a new script takes over with the next load.
    }
  }

  #tell(message: FromContent): boolean {
    if (this.#port === null) return false;
    try {
      this.#port.postMessage(message);
      return true;
    } catch {
      return false;
    }
  }

  #fact(): HeldTurn | undefined {
    const h = this.#held;
    if (h === null) return undefined;
    return { turn: h.updates.turn, send: h.send, stage: h.stage, lastN: h.updates.lastN, messageId: h.messageId };
  }

  /** The worker's timers run at full speed also when this page is hidden; without a worker the page's own must do. */
  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve();
        return;
      }
      const n = ++this.#lastSleep;
      const timer = setTimeout(() => wake(), ms + (document.hidden ? 1000 : 20));
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        this.#sleeps.delete(n);
        resolve();
      };
      signal.addEventListener("abort", wake, { once: true });
      if (this.#tell({ type: "sleep", n, ms })) this.#sleeps.set(n, wake);
    });
  }

  #take(message: ToContent): void {
    if (debugging) debug("content", message.type);
    switch (message.type) {
      case "submit":
        this.#answer(message.id, this.#submit(message));
        break;
      case "go":
        if (this.#held?.send === message.send) this.#held.go.resolve(message.go);
        break;
      case "ready":
        this.#answer(message.id, this.#ready(message.ms));
        break;
      case "stop":
        this.#site.stopButton(document)?.click();
        this.#answer(message.id, Promise.resolve(null));
        break;
      case "end":
        this.#answer(message.id, Promise.resolve(this.#end(message.turn)));
        break;
      case "resume":
        this.#answer(message.id, Promise.resolve(this.#resume(message.turn, message.from)));
        break;
      case "ack":
        if (this.#held?.updates.turn === message.turn) this.#held.updates.acknowledge(message.n);
        break;
      case "look":
        this.#answer(message.id, this.#page.edit("read", "", this, this.#life).then((draft) => look(this.#site, draft)));
        break;
      case "recover":
        this.#answer(message.id, Promise.resolve(this.#recover(message)));
        break;
      case "project":
        this.#answer(message.id, ensureProject(this.#site, message.name, message.project, this, this.#life));
        break;
      case "taken":
        this.#held?.updates.taken();
        break;
      case "woken":
        this.#sleeps.get(message.n)?.();
        break;
    }
  }

  #answer(id: string, result: Promise<unknown>): void {
    result.then(
      (value) => this.#tell({ type: "answer", id, result: value ?? null, error: undefined }),
      (error: unknown) => this.#tell({ type: "answer", id, result: null, error: asResponseError(error) }),
    );
  }

  /** Waits until the page can take a message, or says what it shows instead. */
  async #ready(ms: number): Promise<{ url: string }> {
    const site = this.#site;
    const serious = (): Failure | null => {
      const notice = site.notices(document).find((n) => ["signed-out", "verification", "chat-gone"].includes(n.code));
      return notice === undefined ? null : new Failure(notice.code, notice.text);
    };
    const ready = (): "ready" | Failure | null => serious() ?? (site.composerState(document) === "ready" ? "ready" : null);
    // A notice of an earlier message was reported then; its dialog would keep the page shut for good.
    for (const button of site.dismissals(document)) button.click();
    let found = await until(ready, ms, this, this.#life);
    // A young page may show its composer for a moment before it finds that nobody is signed in, or that the chat is gone.
    if (found === "ready" && performance.now() < youngFor) {
      await this.sleep(settleFor, this.#life);
      found = await until(ready, ms, this, this.#life);
    }
    if (found === "ready") return { url: location.href };
    if (found !== null) throw found;
    const state = site.composerState(document);
    throw new Failure(state === "missing" ? "no-composer" : "composer-not-ready", `The page is not ready for a message (composer: ${state}).`);
  }

  async #submit(message: Extract<ToContent, { type: "submit" }>): Promise<SendResult> {
    const { turn, send, firstN } = message;
    const kept = this.#held?.updates.turn === turn ? this.#held.updates : null;
    this.#held?.stop.abort();
    const held: Held = {
      updates: kept ?? new Updates(turn, firstN, (update) => this.#tell({ type: "update", ...update })),
      send,
      stage: "armed",
      messageId: "",
      text: message.text,
      clicked: false,
      stop: new AbortController(),
      go: Promise.withResolvers(),
      posted: Promise.withResolvers(),
    };
    this.#held = held;
    this.#page.arm();
    const signal = AbortSignal.any([this.#life, held.stop.signal]);
    void this.#watchNotices(held, signal);
    return submit({
      site: this.#site,
      page: this.#page,
      clock: this,
      signal,
      order: message,
      go: held.go.promise,
      posted: held.posted.promise,
      progress: (step) => {
        if (step.stage === "dispatched" || step.stage === "posted") held.stage = step.stage;
        if (step.stage === "clicked") held.clicked = true;
        if (step.messageId !== undefined) held.messageId = step.messageId;
        this.#tell({ type: "progress", send, turn, ...step });
      },
    });
  }

  #posted(posted: Posted): void {
    const held = this.#held;
    // Only what follows the click, and says what we said, can be our message.
    if (held?.clicked === true && (posted.text === "" || beginAlike(posted.text, held.text))) held.posted.resolve(posted);
  }

  async #watchNotices(held: Held, signal: AbortSignal): Promise<void> {
    const watch = new NoticeWatch(this.#site, (notice) => this.#tell({ type: "notice", turn: held.updates.turn, ...notice }));
    while (!signal.aborted) {
      await this.sleep(noticeEvery, signal);
      if (!signal.aborted) watch.look();
    }
  }

  #end(turn: string): null {
    if (this.#held?.updates.turn === turn) {
      this.#held.stop.abort();
      this.#held = null;
      this.#page.disarm();
    }
    this.#recovering?.abort();
    return null;
  }

  #resume(turn: string, from: number): FramesResult {
    return this.#held?.updates.turn === turn ? this.#held.updates.resume(from) : { first: 0, last: 0 };
  }

  #recover(message: Extract<ToContent, { type: "recover" }>): { found: boolean } {
    const asked = { messageId: message.messageId, text: message.text };
    if (!isThere(this.#site, asked)) return { found: false };
    this.#recovering?.abort();
    const stop = new AbortController();
    this.#recovering = stop;
    void recover(this.#site, asked, this, AbortSignal.any([this.#life, stop.signal])).then((text) => {
      if (text !== null && !stop.signal.aborted) this.#tell({ type: "recovered", ask: message.ask, turn: message.turn, text });
    });
    return { found: true };
  }
}
