import type { SendResult, SubmitProgress } from "../../protocol/link";
import type { SubmitOrder } from "../messages";
import type { Posted } from "../page/messages";
import type { Site } from "../sites/site";
import { Failure } from "./failure";
import type { PageScript } from "./page";
import { bare, fingerprint, until, type Clock } from "./wait";

/** How long each step may take, in milliseconds. */
const limits = { composer: 20_000, verify: 3000, chip: 10_000, enabled: 15_000, go: 11_000, post: 8000 };
/** A paste over the site's limit becomes a file; pieces of this many characters never do. */
const pieceLength = 1200;
const piecePause = 30;
/** How often a text that the page dropped is put back. */
const maxInsertions = 3;

export interface Submission {
  site: Site;
  page: PageScript;
  clock: Clock;
  signal: AbortSignal;
  order: SubmitOrder;
  progress: (step: Pick<SubmitProgress, "stage" | "messageId" | "conversationId">) => void;
  /** Resolves when the daemon says whether the button may be clicked. */
  go: Promise<boolean>;
  /** Resolves when the page made the request of this message. */
  posted: Promise<Posted>;
}

/**
 * Submits one message: finds the composer, inserts, verifies, waits for the button and for the daemon's word, looks again,
 * clicks once, and waits for the request. It never clicks twice; what comes of a failure is for the daemon to decide.
 */
export async function submit(s: Submission): Promise<SendResult> {
  await composer(s);
  await clear(s);
  const box = new Box(s);
  await box.fill();
  s.progress({ stage: "inserted" });
  await box.sendable();
  s.progress({ stage: "dispatched" });
  const go = await within(s.go, limits.go, s);
  if (go !== true) throw new Failure("no-go", go === false ? "Plexus said not to send." : "Plexus did not say that it may be sent.");
  // The page may have rebuilt its composer meanwhile.
  const button = await box.sendable();
  button.click();
  s.progress({ stage: "clicked" });
  const posted = await within(s.posted, limits.post, s);
  if (posted === null) throw new Failure("no-post", "The send button was clicked and the page made no request.", true);
  const { messageId, conversationId } = posted;
  const real = s.site.place(location.href).conversation || (conversationId.includes(":") ? "" : conversationId);
  s.progress({ stage: "posted", messageId, conversationId: real });
  return { messageId, conversationId: real, url: location.href.slice(0, 4096) };
}

async function within<T>(promise: Promise<T>, ms: number, s: Submission): Promise<T | null> {
  const stop = new AbortController();
  const late = s.clock.sleep(ms, AbortSignal.any([s.signal, stop.signal])).then(() => null);
  const first = await Promise.race([promise, late]);
  stop.abort();
  s.signal.throwIfAborted();
  return first;
}

/** Waits for a composer that can take text. */
async function composer(s: Submission): Promise<void> {
  const found = await until(() => (s.site.composerState(document) === "ready" ? true : null), limits.composer, s.clock, s.signal);
  s.signal.throwIfAborted();
  if (found) return;
  const notice = s.site.notices(document)[0];
  if (notice !== undefined) throw new Failure(notice.code, notice.text);
  const state = s.site.composerState(document);
  throw state === "missing"
    ? new Failure("no-composer", "The page has no composer.")
    : new Failure("composer-not-ready", `The page's composer does not take text (${state}).`);
}

/** Makes sure that nothing of the person's is in the composer; what we put there ourselves may go. */
async function clear(s: Submission): Promise<void> {
  const { text } = await s.page.edit("read", "", s.clock, s.signal);
  const shown = bare(text) === "" ? (s.site.editor(document)?.textContent ?? "") : text;
  if (bare(shown) !== "" && bare(shown) !== bare(s.order.text) && !s.order.own.includes(await fingerprint(shown))) {
    throw new Failure("user-draft", "There is a text in the composer that Plexus did not put there.");
  }
  if (s.site.attachmentRemovers(document).length > 0) {
    throw new Failure("user-draft", "Something is attached in the composer that Plexus did not put there.");
  }
}

/** The composer with our text in it. */
class Box {
  readonly #s: Submission;
  readonly #want: string;
  #insertions = 0;

  constructor(s: Submission) {
    this.#s = s;
    this.#want = bare(s.order.text);
  }

  /** Puts the text in and sees that it stays. */
  async fill(): Promise<void> {
    const { page, clock, signal, order } = this.#s;
    this.#insertions++;
    let done = await page.edit("insert", order.text, clock, signal);
    // The editor can be in the page before the app has taken hold of it.
    for (let tries = 0; done.error !== "" && tries < 20 && !signal.aborted; tries++) {
      await clock.sleep(150, signal);
      done = await page.edit("insert", order.text, clock, signal);
    }
    signal.throwIfAborted();
    if (done.error !== "") throw new Failure("insert-failed", `The text could not be put into the composer: ${done.error}.`);
    // The editor reads its paragraphs again a moment later, and a paste handler would make a file of them.
    await until(() => (this.#chip() || this.#shown() ? true : null), limits.verify, clock, signal);
    if (this.#chip()) return this.#fillInPieces();
    const { text } = await page.edit("read", "", clock, signal);
    signal.throwIfAborted();
    if (bare(text) === this.#want) return;
    if (bare(text) === "" && this.#insertions < maxInsertions) return this.fill();
    throw new Failure("insert-failed", `The composer holds ${bare(text).length} characters of ${this.#want.length}.`);
  }

  /** Removes the file that the site made of the text, and inserts the text bit by bit. */
  async #fillInPieces(): Promise<void> {
    const { site, page, clock, signal, order } = this.#s;
    for (const button of site.attachmentRemovers(document)) button.click();
    const gone = await until(() => (this.#chip() ? null : true), limits.chip, clock, signal);
    if (gone === null) throw new Failure("attachment", "The site made a file of the text, and the file could not be removed.");
    await page.edit("insert", "", clock, signal);
    for (const piece of cut(order.text)) {
      const { error } = await page.edit("append", piece, clock, signal);
      signal.throwIfAborted();
      if (error !== "") throw new Failure("insert-failed", `The text could not be put into the composer: ${error}.`);
      await clock.sleep(piecePause, signal);
    }
    const { text } = await page.edit("read", "", clock, signal);
    if (this.#chip() || bare(text) !== this.#want) throw new Failure("attachment", "The site makes a file of the text.");
  }

  #chip(): boolean {
    return this.#s.site.attachmentRemovers(document).length > 0;
  }

  #shown(): boolean {
    return bare(this.#s.site.editor(document)?.textContent ?? "") === this.#want;
  }

  /** Waits for a button that can be clicked over our whole text. A composer gone empty is filled again. */
  async sendable(): Promise<HTMLButtonElement> {
    const { site, page, clock, signal } = this.#s;
    for (;;) {
      const button = await until(() => this.#button() ?? (this.#empty() ? "empty" : null), limits.enabled, clock, signal);
      signal.throwIfAborted();
      if (button === null) throw this.#notSendable();
      if (button !== "empty") {
        const { text } = await page.edit("read", "", clock, signal);
        signal.throwIfAborted();
        const still = this.#button();
        if (bare(text) === this.#want && still !== null) return still;
        if (bare(text) !== "" && bare(text) !== this.#want) throw new Failure("user-draft", "The text in the composer was changed before it was sent.");
      }
      if (this.#insertions >= maxInsertions) throw new Failure("insert-failed", "The page drops the text from its composer.");
      if (site.composerState(document) !== "ready") await composer(this.#s);
      await this.fill();
    }
  }

  #button(): HTMLButtonElement | null {
    const button = this.#s.site.sendButton(document);
    const off = button === null || button.disabled || button.getAttribute("aria-disabled") === "true";
    return off ? null : button;
  }

  /** Whether the page has dropped the text, or the whole composer. */
  #empty(): boolean {
    const editor = this.#s.site.editor(document);
    return editor !== null && bare(editor.textContent ?? "") === "";
  }

  #notSendable(): Failure {
    const { site } = this.#s;
    if (site.stopButton(document) !== null) return new Failure("send-disabled", "The page still generates an answer.");
    const notice = site.notices(document)[0];
    if (notice !== undefined) return new Failure(notice.code, notice.text);
    return new Failure("send-disabled", "The send button stays disabled.");
  }
}

/** Cuts a text into pieces, never within a character or a line end. */
function* cut(text: string): Generator<string> {
  const plain = text.replace(/\r\n?/g, "\n");
  for (let at = 0; at < plain.length; ) {
    let end = Math.min(at + pieceLength, plain.length);
    const code = plain.charCodeAt(end - 1);
    if (end < plain.length && code >= 0xd800 && code < 0xdc00) end--;
    yield plain.slice(at, end);
    at = end;
  }
}
