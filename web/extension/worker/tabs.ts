import type { TabStatus, ToDaemon } from "../../protocol/link";
import { Failure } from "../content/failure";
import type { FromContent } from "../messages";
import { siteOf } from "../sites/sites";
import { Page } from "./page";
import { fact, skippedNumbers, type Records, type TurnRecord } from "./records";

/** How long a page may take until it can be written to. */
const readyWithin = 40_000;

export type PageMessage = Exclude<FromContent, { type: "here" | "answer" | "sleep" }>;

/** A tab of ours and the document in it. */
interface Live {
  thread: string;
  page: Page | null;
  /** The newest document that was seen. */
  doc: string;
  /** The document that is wanted now is one that we asked for. */
  expected: boolean;
  attaching: AbortController | null;
  /** Resolves with the page of the attempt under way. */
  arrival: Promise<Page | null>;
}

/**
 * The tabs of our threads. A tab that is not in the records is never looked at, and nothing is ever sent to it.
 */
export class Tabs {
  readonly #records: Records;
  readonly #live = new Map<number, Live>();
  readonly #send: (message: ToDaemon) => void;
  readonly #onMessage: (message: PageMessage, tab: number, page: Page) => void;

  constructor(records: Records, send: (message: ToDaemon) => void, onMessage: (message: PageMessage, tab: number, page: Page) => void) {
    this.#records = records;
    this.#send = send;
    this.#onMessage = onMessage;
  }

  /** Finds the tabs of the records again after the worker's start. */
  async restore(): Promise<void> {
    await Promise.all(
      [...this.#records.tabs.values()].map(async ({ thread, tab }) => {
        if ((await chrome.tabs.get(tab).catch(() => null)) === null) {
          await this.#forget(thread, tab);
          return;
        }
        // Whether it is the document of before is told by what it holds of the turn.
        const live = this.#live.get(tab) ?? this.#begin(tab, thread);
        await Promise.race([live.arrival, new Promise((resolve) => setTimeout(resolve, 1500))]);
      }),
    );
  }

  #begin(tab: number, thread: string): Live {
    const live: Live = { thread, page: null, doc: "", expected: true, attaching: null, arrival: Promise.resolve(null) };
    this.#live.set(tab, live);
    this.#attach(tab, live);
    return live;
  }

  /** Connects to the tab's document, now or when it comes. */
  #attach(tab: number, live: Live): void {
    live.attaching?.abort();
    const stop = new AbortController();
    live.attaching = stop;
    live.arrival = Page.attach(tab, stop.signal).then((page) => {
      if (stop.signal.aborted || this.#live.get(tab) !== live) {
        page?.detach();
        return null;
      }
      live.attaching = null;
      if (page !== null) this.#arrived(tab, live, page);
      else void this.#silent(tab, live);
      return page;
    });
  }

  /** A tab that is at the site and has no script of ours for so long has no living document. */
  async #silent(tab: number, live: Live): Promise<void> {
    const now = await chrome.tabs.get(tab).catch(() => null);
    if (now === null || now.discarded || siteOf(now.url ?? "") === null || live.page !== null) return;
    this.#status(tab, live, "crashed", now.url ?? "");
    this.#loseTurns(live.thread);
  }

  #arrived(tab: number, live: Live, page: Page): void {
    const other = live.doc !== "" && live.doc !== page.doc;
    const expected = live.expected;
    live.page = page;
    live.doc = page.doc;
    live.expected = false;
    page.onMessage = (message) => this.#onMessage(message, tab, page);
    page.gone.addEventListener("abort", () => this.#lost(tab, live, page), { once: true });
    for (const turn of this.#records.turnsOf(live.thread)) this.#check(turn, page);
    this.#status(tab, live, other && !expected ? "reloaded" : "ready", page.url);
  }

  /** Holds a turn's record against what the document knows of it. */
  #check(turn: TurnRecord, page: Page): void {
    const held = page.held;
    const stale = this.#records.stale.delete(turn.turn);
    if (held !== undefined && held.turn === turn.turn) {
      turn.lastN = held.lastN;
      if (held.send === turn.send && turn.stage !== "lost") {
        turn.stage = held.stage;
        turn.messageId = held.messageId || (turn.messageId ?? "");
      }
      void this.#records.saveTurn(turn);
      return;
    }
    if (stale) turn.lastN += skippedNumbers;
    if (turn.stage !== "lost") this.lose(turn);
  }

  /** The page that had the turn is gone. */
  lose(turn: TurnRecord): void {
    turn.stage = "lost";
    void this.#records.saveTurn(turn);
    this.#send({ type: "turn_status", turns: [fact(turn)] });
  }

  #lost(tab: number, live: Live, page: Page): void {
    if (live.page !== page || this.#live.get(tab) !== live) return;
    live.page = null;
    this.#attach(tab, live);
  }

  #status(tab: number, live: Live, state: TabStatus["state"], url: string): void {
    this.#send({ type: "tab_status", tab, thread: live.thread, state, url: siteOf(url) === null ? "" : url.slice(0, 4096) });
  }

  /** The browser says that a tab changed. */
  updated(tab: number, change: { status?: string; url?: string; discarded?: boolean }): void {
    const live = this.#live.get(tab);
    if (live === undefined) return;
    if (change.discarded === true) {
      this.#status(tab, live, "discarded", "");
      this.#loseTurns(live.thread);
    }
    if (change.status === "loading") {
      if (live.page === null && live.attaching === null) this.#attach(tab, live);
      if (change.url === undefined) void this.#left(tab, live);
    }
    if (change.url !== undefined) this.#status(tab, live, live.page === null ? "loading" : "navigated", change.url);
  }

  /** A load whose address we may not know is one away from the site, unless the tab says otherwise. */
  async #left(tab: number, live: Live): Promise<void> {
    const now = await chrome.tabs.get(tab).catch(() => null);
    if (now === null || siteOf(now.pendingUrl ?? now.url ?? "") !== null || live.expected) return;
    this.#status(tab, live, "navigated", "");
    this.#loseTurns(live.thread);
  }

  /** The browser closed a tab. */
  async closed(tab: number): Promise<void> {
    const live = this.#live.get(tab);
    if (live === undefined) return;
    this.#status(tab, live, "closed", "");
    await this.#forget(live.thread, tab);
  }

  /** A tab goes on under another number. */
  async replaced(added: number, removed: number): Promise<void> {
    const live = this.#live.get(removed);
    const owned = live === undefined ? undefined : this.#records.tabs.get(live.thread);
    if (live === undefined || owned === undefined) return;
    this.#live.delete(removed);
    live.attaching?.abort();
    live.page?.detach();
    await this.#records.saveTab({ ...owned, tab: added });
    this.#begin(added, live.thread);
  }

  #loseTurns(thread: string): void {
    for (const turn of this.#records.turnsOf(thread)) {
      if (turn.stage !== "lost") this.lose(turn);
    }
  }

  async #forget(thread: string, tab: number): Promise<void> {
    const live = this.#live.get(tab);
    this.#live.delete(tab);
    live?.attaching?.abort();
    if (this.#records.tabs.get(thread)?.tab === tab) await this.#records.dropTab(thread);
    this.#loseTurns(thread);
    live?.page?.detach();
  }

  /** The page of the thread's own tab. Anything else is refused. */
  async page(thread: string, tab: number): Promise<Page> {
    const owned = this.#records.tabs.get(thread);
    if (owned === undefined) throw new Failure("no-tab", "The thread has no tab in this browser.");
    if (owned.tab !== tab) throw new Failure("not-ours", "That tab does not belong to the thread.");
    const live = this.#live.get(tab);
    const page = live?.page ?? (await live?.arrival) ?? null;
    if (page === null) throw new Failure("page-lost", "The tab shows no page of the site.");
    return page;
  }

  readonly #opening = new Map<string, Promise<unknown>>();

  /** Makes sure that the thread has a tab at url which can be written to. One thread's calls follow each other: none makes a second tab. */
  open(thread: string, url: string): Promise<{ tab: number; url: string; created: boolean }> {
    const before = this.#opening.get(thread) ?? Promise.resolve();
    const result = before.then(() => this.#open(thread, url));
    const done = result.catch(() => undefined).then(() => {
      if (this.#opening.get(thread) === done) this.#opening.delete(thread);
    });
    this.#opening.set(thread, done);
    return result;
  }

  async #open(thread: string, url: string): Promise<{ tab: number; url: string; created: boolean }> {
    const site = siteOf(url);
    if (site === null) throw new Failure("not-ours", "Plexus drives no tab at that address.");
    const owned = this.#records.tabs.get(thread);
    const there = owned === undefined ? null : await chrome.tabs.get(owned.tab).catch(() => null);
    if (owned !== undefined && there === null) await this.#forget(thread, owned.tab);
    const tab = there?.id ?? (await this.#create(thread, url));
    const live = this.#live.get(tab) ?? this.#begin(tab, thread);
    if (there !== null) await this.#bring(tab, live, there, url);
    const page = live.page ?? (await live.arrival);
    if (page === null) throw new Failure("page-lost", "The tab shows no page of the site.");
    const ready = await page.order({ type: "ready", ms: readyWithin }, readyWithin + 5000);
    const at = typeof ready === "object" && ready !== null ? (ready as { url?: unknown }).url : "";
    return { tab, url: typeof at === "string" ? at.slice(0, 4096) : "", created: there === null };
  }

  async #create(thread: string, url: string): Promise<number> {
    // Without any window there is nothing to put a tab into.
    const tab = await chrome.tabs.create({ url, active: false }).catch(async () => (await chrome.windows.create({ url, focused: false }))?.tabs?.[0]);
    if (tab?.id === undefined) throw new Failure("no-tab", "The browser made no tab.");
    await this.#records.saveTab({ thread, tab: tab.id, own: [] });
    // A tab that is thrown out of memory would lose its answer.
    await chrome.tabs.update(tab.id, { autoDiscardable: false }).catch(() => undefined);
    this.#begin(tab.id, thread);
    return tab.id;
  }

  /** Navigates a tab that is elsewhere, or not loaded. */
  async #bring(tab: number, live: Live, there: chrome.tabs.Tab, url: string): Promise<void> {
    const at = there.pendingUrl ?? there.url ?? "";
    if (there.discarded !== true && siteOf(at)?.samePlace(at, url) === true && (live.page !== null || live.attaching !== null)) return;
    live.expected = true;
    const before = live.page;
    await chrome.tabs.update(tab, { url });
    if (before !== null) await new Promise<void>((resolve) => {
      before.gone.addEventListener("abort", () => resolve(), { once: true });
      setTimeout(resolve, 5000);
    });
    if (live.page === before) {
      // The address changed within the document.
      live.expected = false;
    } else if (live.page === null && live.attaching === null) {
      this.#attach(tab, live);
    }
  }

  /** Closes the thread's own tab, whichever that is when tab is 0. */
  async close(thread: string, tab: number): Promise<void> {
    const owned = this.#records.tabs.get(thread);
    if (owned === undefined) return;
    if (tab !== 0 && owned.tab !== tab) throw new Failure("not-ours", "That tab does not belong to the thread.");
    await this.#forget(thread, owned.tab);
    await chrome.tabs.remove(owned.tab).catch(() => undefined);
  }
}
