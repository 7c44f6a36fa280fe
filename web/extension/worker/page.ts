import type { ResponseError } from "../../protocol/link";
import { Failure } from "../content/failure";
import { debug, debugging } from "../debug";
import { asHeld } from "../evidence";
import { fromContent, tabPort, type FromContent, type ToContent } from "../messages";
import { checked } from "../shape";

/** A command to a page that waits for its answer. */
interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: Failure) => void;
}

type Ordered = Extract<ToContent, { id: string }>;
type WithoutId<M> = M extends { id: string } ? Omit<M, "id"> : never;

const attachEvery = 100;
const attachFor = 30_000;

/** The connection to the isolated script of one document in one of our tabs. */
export class Page {
  readonly tab: number;
  readonly doc: string;
  readonly url: string;
  readonly held: Extract<FromContent, { type: "here" }>["held"];
  /** Aborted when the document or the connection is gone. */
  readonly gone: AbortSignal;
  readonly #port: chrome.runtime.Port;
  readonly #end = new AbortController();
  readonly #waiting = new Map<string, Waiting>();
  #lastId = 0;
  onMessage: (message: Exclude<FromContent, { type: "here" | "answer" | "sleep" }>) => void = () => undefined;

  private constructor(tab: number, port: chrome.runtime.Port, here: Extract<FromContent, { type: "here" }>) {
    this.tab = tab;
    this.doc = here.doc;
    this.url = here.url;
    this.held = asHeld(here.held);
    this.gone = this.#end.signal;
    this.#port = port;
    port.onMessage.addListener((value: unknown) => this.#take(value));
    port.onDisconnect.addListener(() => this.#lost());
  }

  /**
   * Connects to the top frame of a tab, waiting for its script to be there. Null when the tab went away, shows
   * something that is no page of the site, or signal was aborted.
   */
  static async attach(tab: number, signal: AbortSignal): Promise<Page | null> {
    for (let waited = 0; waited < attachFor && !signal.aborted; waited += attachEvery) {
      const page = await Page.#try(tab, signal);
      if (page !== null) return page;
      if ((await chrome.tabs.get(tab).catch(() => null)) === null) return null;
      await new Promise((resolve) => setTimeout(resolve, attachEvery));
    }
    return null;
  }

  static #try(tab: number, signal: AbortSignal): Promise<Page | null> {
    return new Promise((resolve) => {
      const port = chrome.tabs.connect(tab, { name: tabPort, frameId: 0 });
      const finish = (page: Page | null): void => {
        clearTimeout(timer);
        port.onMessage.removeListener(first);
        port.onDisconnect.removeListener(lost);
        if (page === null) port.disconnect();
        resolve(signal.aborted ? null : page);
      };
      const first = (value: unknown): void => {
        const message = checked(fromContent, value);
        finish(message?.type === "here" ? new Page(tab, port, message) : null);
      };
      const lost = (): void => {
        void chrome.runtime.lastError; // nobody listened: the script is not there yet
        finish(null);
      };
      const timer = setTimeout(() => finish(null), 1000);
      port.onMessage.addListener(first);
      port.onDisconnect.addListener(lost);
    });
  }

  #take(value: unknown): void {
    const message = checked(fromContent, value);
    if (message === null) {
      if (debugging) debug("odd message of a page", value);
      return;
    }
    switch (message.type) {
      case "here":
        return;
      case "answer":
        this.#answered(message);
        return;
      case "sleep": {
        const { n } = message;
        setTimeout(() => this.tell({ type: "woken", n }), Math.min(Math.max(message.ms, 0), 60_000));
        return;
      }
      default:
        this.onMessage(message);
    }
  }

  #answered({ id, result, error }: Extract<FromContent, { type: "answer" }>): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(asFailure(error));
  }

  #lost(): void {
    if (this.gone.aborted) return;
    this.#end.abort();
    for (const waiting of this.#waiting.values()) waiting.reject(new Failure("page-lost", "The page went away."));
    this.#waiting.clear();
  }

  /** Ends the connection; the page goes back to doing nothing unless it holds a turn. */
  detach(): void {
    this.#port.disconnect();
    this.#lost();
  }

  tell(message: ToContent): void {
    if (this.gone.aborted) return;
    try {
      this.#port.postMessage(message);
    } catch {
      this.#lost();
    }
  }

  /** Gives a command and waits for its answer, ms at most. */
  async order(order: WithoutId<Ordered>, ms: number): Promise<unknown> {
    if (this.gone.aborted) throw new Failure("page-lost", "The page went away.");
    const id = String(++this.#lastId);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { resolve, reject });
    const timer = setTimeout(() => {
      this.#waiting.delete(id);
      reject(new Failure("timeout", `The page did not answer within ${ms / 1000} s.`));
    }, ms);
    this.tell({ ...order, id } as Ordered);
    return promise.finally(() => clearTimeout(timer));
  }
}

function asFailure(error: ResponseError): Failure {
  const { code, text, clicked } = error as Partial<Record<keyof ResponseError, unknown>>;
  return new Failure(typeof code === "string" ? code.slice(0, 64) : "internal", typeof text === "string" ? text.slice(0, 1000) : "", clicked === true);
}
