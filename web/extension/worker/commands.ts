import type { Command, PageFacts, ResponseError, Results, SendResult, ToDaemon, ToWorker } from "../../protocol/link";
import { asResponseError, Failure } from "../content/failure";
import { fingerprint } from "../content/wait";
import { asId, asPiece } from "../evidence";
import type { Order } from "./link";
import type { Page } from "./page";
import { fact, type Records, type TurnRecord } from "./records";
import type { PageMessage, Tabs } from "./tabs";

/** How long a page may take for each command, in milliseconds. */
const limits = { submit: 85_000, quick: 8000, project: 40_000 };
const stages: readonly string[] = ["inserted", "dispatched", "clicked", "posted"] satisfies Extract<PageMessage, { type: "progress" }>["stage"][];
const maxRecovered = 2 << 20;
/** Pause between two batches of updates: what comes within it is joined. */
const pace = 10;

/** Does what the daemon says, and passes on what pages tell. */
export class Commands {
  readonly #records: Records;
  readonly #tabs: Tabs;
  readonly #send: (message: ToDaemon) => boolean;
  /** Tabs in which a command is at work that must be alone there. */
  readonly #busy = new Set<number>();
  /** Sends under way, by their id: a repeated command joins the first. */
  readonly #sends = new Map<string, Promise<SendResult>>();

  constructor(records: Records, tabs: Tabs, send: (message: ToDaemon) => boolean) {
    this.#records = records;
    this.#tabs = tabs;
    this.#send = send;
  }

  take(message: Order): void {
    switch (message.type) {
      case "proceed":
        void this.#proceed(message.turn, message.id, message.go);
        return;
      case "ack_frames":
        void this.#pageOf(message.turn).then(
          ({ page }) => page.tell({ type: "ack", turn: message.turn, n: message.n }),
          () => undefined,
        );
        return;
      default:
        this.#do(message).then(
          (result) => this.#send({ type: "response", id: message.id, result }),
          (error: unknown) => this.#send({ type: "response", id: message.id, result: null, error: asResponseError(error) }),
        );
    }
  }

  async #do(command: Command): Promise<Results[Command["type"]]> {
    switch (command.type) {
      case "open_tab":
        return this.#tabs.open(command.thread, command.url);
      case "close_tab":
        await this.#tabs.close(command.thread, command.tab);
        return null;
      case "send_message":
        return this.#submit(command);
      case "resume_frames":
        return this.#resume(command.turn, command.from);
      case "stop_turn": {
        const { page } = await this.#pageOf(command.turn);
        await page.order({ type: "stop" }, limits.quick);
        return null;
      }
      case "end_turn":
        return this.#end(command.turn);
      case "look_page": {
        const page = await this.#tabs.page(command.thread, command.tab);
        return (await page.order({ type: "look" }, limits.quick)) as PageFacts;
      }
      case "recover_turn": {
        const page = await this.#tabs.page(command.thread, command.tab);
        const { turn, messageId = "", text = "" } = command;
        return (await page.order({ type: "recover", ask: command.id, turn, messageId, text }, limits.quick)) as Results["recover_turn"];
      }
      case "ensure_project": {
        const page = await this.#tabs.page(command.thread, command.tab);
        const { name, project = "" } = command;
        return this.#alone(command.tab, async () => (await page.order({ type: "project", name, project }, limits.project)) as Results["ensure_project"]);
      }
    }
  }

  /** One operation owns one tab. */
  async #alone<T>(tab: number, work: () => Promise<T>): Promise<T> {
    if (this.#busy.has(tab)) throw new Failure("tab-busy", "Another command is at work in that tab.");
    this.#busy.add(tab);
    try {
      return await work();
    } finally {
      this.#busy.delete(tab);
    }
  }

  async #pageOf(turn: string): Promise<{ record: TurnRecord; page: Page }> {
    const record = this.#records.turns.get(turn);
    if (record === undefined) throw new Failure("unknown-turn", "This browser does not hold that turn.");
    return { record, page: await this.#tabs.page(record.thread, record.tab) };
  }

  /** Submits a message. The same id again gets the same answer, and never a second click. */
  #submit(command: Extract<ToWorker, { type: "send_message" }>): Promise<SendResult> {
    const underWay = this.#sends.get(command.id);
    if (underWay !== undefined) return underWay;
    const known = this.#records.turns.get(command.turn);
    if (known?.send === command.id) return Promise.resolve(known).then(answerOf);
    const work = this.#alone(command.tab, () => this.#submitNew(command)).finally(() => this.#sends.delete(command.id));
    this.#sends.set(command.id, work);
    return work;
  }

  async #submitNew({ id, turn, thread, tab, text }: Extract<ToWorker, { type: "send_message" }>): Promise<SendResult> {
    const page = await this.#tabs.page(thread, tab);
    const before = this.#records.turns.get(turn);
    const record: TurnRecord = {
      turn,
      thread,
      tab,
      send: id,
      stage: "armed",
      lastN: before?.lastN ?? 0,
      messageId: "",
      conversationId: "",
      clicked: false,
      outcome: undefined,
    };
    await this.#records.saveTurn(record);
    const own = this.#records.tabs.get(thread)?.own ?? [];
    await this.#records.noteText(thread, await fingerprint(text));
    try {
      const result = (await page.order({ type: "submit", send: id, turn, text, firstN: record.lastN + 1, own }, limits.submit)) as SendResult;
      record.outcome = { result };
      return result;
    } catch (error) {
      const refused: ResponseError = { ...asResponseError(error), clicked: record.clicked };
      record.outcome = { error: refused };
      throw new Failure(refused.code, refused.text, refused.clicked);
    } finally {
      // The turn may have been ended meanwhile.
      if (this.#records.turns.get(turn) === record) await this.#records.saveTurn(record);
    }
  }

  async #proceed(turn: string, send: string, go: boolean): Promise<void> {
    const record = this.#records.turns.get(turn);
    if (record?.send !== send || record.stage !== "dispatched") return;
    // From here on nobody can say that the message was not sent.
    record.clicked = go;
    await this.#records.saveTurn(record);
    const page = await this.#tabs.page(record.thread, record.tab).catch(() => null);
    page?.tell({ type: "go", send, go });
  }

  async #resume(turn: string, from: number): Promise<Results["resume_frames"]> {
    const { page } = await this.#pageOf(turn);
    return (await page.order({ type: "resume", turn, from }, limits.quick)) as Results["resume_frames"];
  }

  async #end(turn: string): Promise<null> {
    const record = this.#records.turns.get(turn);
    if (record === undefined) throw new Failure("unknown-turn", "This browser does not hold that turn.");
    const page = await this.#tabs.page(record.thread, record.tab).catch(() => null);
    await page?.order({ type: "end", turn }, limits.quick).catch(() => undefined);
    await this.#records.dropTurn(turn);
    return null;
  }

  /** Passes on what a page says, as far as it speaks of the turn that its tab has. */
  told(message: PageMessage, tab: number, page: Page): void {
    const record = this.#records.turns.get(message.turn);
    if (message.type === "recovered") {
      const text = message.text.slice(0, maxRecovered);
      if (message.ask !== "" && (record === undefined || record.tab === tab)) this.#send({ type: "recovered", id: asId(message.ask), turn: message.turn, text });
      return;
    }
    if (record === undefined || record.tab !== tab) return;
    switch (message.type) {
      case "update": {
        const piece = asPiece(message);
        if (piece === null || !Number.isSafeInteger(message.n) || message.n < 1) return;
        this.#records.noteNumber(record, message.n);
        this.#send({ type: "stream_update", turn: record.turn, n: message.n, ...piece });
        setTimeout(() => page.tell({ type: "taken" }), pace);
        return;
      }
      case "progress":
        void this.#progress(message, record);
        return;
      case "notice":
        this.#send({
          type: "notice",
          turn: record.turn,
          tab,
          code: message.code,
          text: message.text.slice(0, 500),
          ...(message.until === undefined ? {} : { until: message.until.slice(0, 40) }),
        });
        return;
    }
  }

  async #progress({ send, turn, stage, messageId, conversationId }: Extract<PageMessage, { type: "progress" }>, record: TurnRecord): Promise<void> {
    if (record.send !== send || !stages.includes(stage)) return;
    [messageId, conversationId] = [asId(messageId), asId(conversationId)];
    if (stage === "dispatched" || stage === "posted") record.stage = stage;
    if (stage === "clicked") record.clicked = true;
    if (messageId) record.messageId = messageId;
    if (conversationId) record.conversationId = conversationId;
    const saved = this.#records.saveTurn(record);
    // It must be known here before the daemon lets the page click.
    if (stage === "dispatched") await saved;
    this.#send({ type: "submit_progress", id: send, turn, stage, ...(messageId ? { messageId } : {}), ...(conversationId ? { conversationId } : {}) });
    if (stage === "posted") this.#send({ type: "turn_status", turns: [fact(record)] });
  }
}

/** What is known of a send that this worker has not made itself, or has finished. */
function answerOf(record: TurnRecord): SendResult {
  const { outcome, stage, messageId = "", conversationId } = record;
  if (outcome !== undefined && "result" in outcome) return outcome.result;
  if (stage === "posted") return { messageId, conversationId, url: "" };
  if (outcome !== undefined) throw new Failure(outcome.error.code, outcome.error.text, outcome.error.clicked);
  throw new Failure("page-lost", "The worker was started anew while the message was sent.", record.clicked);
}
