import type { ResponseError, SendResult, TurnFact } from "../../protocol/link";

/** A tab that belongs to a thread. */
export interface OwnedTab {
  thread: string;
  tab: number;
  /** Hashes of texts that we put into its composer, newest last. */
  own: string[];
}

/** A turn in flight, and what came of its newest message. */
export interface TurnRecord extends TurnFact {
  conversationId: string;
  clicked: boolean;
  outcome: { result: SendResult } | { error: ResponseError } | undefined;
}

const tabPrefix = "tab:";
const turnPrefix = "turn:";
const maxOwn = 8;
/** Numbers skipped when both the page that numbered a turn's updates and the worker that knew the last number are gone. */
export const skippedNumbers = 10_000;

/**
 * What the worker knows beyond its own life, in the browser's session store. Each record has a key of its own: a worker that
 * starts while another's write is under way cannot undo it.
 */
export class Records {
  readonly tabs = new Map<string, OwnedTab>();
  readonly turns = new Map<string, TurnRecord>();
  /** Turns that came from the store and whose newest numbers may be missing there. */
  readonly stale = new Set<string>();
  /** Called when a tab came or went. */
  onTabs: () => void = () => undefined;
  #late: ReturnType<typeof setTimeout> | undefined;
  readonly #dirty = new Set<string>();

  static async load(): Promise<Records> {
    const records = new Records();
    const all = await chrome.storage.session.get(null);
    for (const [key, value] of Object.entries(all)) {
      // Only this class writes there; a browser update may still meet records of an older shape.
      if (typeof value !== "object" || value === null) continue;
      if (key.startsWith(tabPrefix)) {
        const tab = value as OwnedTab;
        if (typeof tab.thread === "string" && typeof tab.tab === "number") records.tabs.set(tab.thread, { ...tab, own: tab.own ?? [] });
      } else if (key.startsWith(turnPrefix)) {
        const turn = value as TurnRecord;
        if (typeof turn.turn !== "string" || typeof turn.thread !== "string") continue;
        records.turns.set(turn.turn, turn);
        records.stale.add(turn.turn);
      }
    }
    return records;
  }

  async saveTab(tab: OwnedTab): Promise<void> {
    this.tabs.set(tab.thread, tab);
    this.onTabs();
    await chrome.storage.session.set({ [tabPrefix + tab.thread]: tab });
  }

  async dropTab(thread: string): Promise<void> {
    this.tabs.delete(thread);
    this.onTabs();
    await chrome.storage.session.remove(tabPrefix + thread);
  }

  async saveTurn(turn: TurnRecord): Promise<void> {
    this.turns.set(turn.turn, turn);
    this.#dirty.delete(turn.turn);
    await chrome.storage.session.set({ [turnPrefix + turn.turn]: turn });
  }

  async dropTurn(turn: string): Promise<void> {
    this.turns.delete(turn);
    this.stale.delete(turn);
    this.#dirty.delete(turn);
    await chrome.storage.session.remove(turnPrefix + turn);
  }

  /** Notes the newest number of a turn; it is written a moment later, for many at once. */
  noteNumber(record: TurnRecord, n: number): void {
    if (n > record.lastN) record.lastN = n;
    this.#dirty.add(record.turn);
    this.#late ??= setTimeout(() => {
      this.#late = undefined;
      for (const turn of this.#dirty) {
        const kept = this.turns.get(turn);
        if (kept !== undefined) void this.saveTurn(kept);
      }
    }, 250);
  }

  /** Remembers what was put into the composer of a thread's tab. */
  async noteText(thread: string, hash: string): Promise<void> {
    const tab = this.tabs.get(thread);
    if (tab === undefined || tab.own.includes(hash)) return;
    await this.saveTab({ ...tab, own: [...tab.own, hash].slice(-maxOwn) });
  }

  threadOf(tab: number): string | undefined {
    for (const owned of this.tabs.values()) {
      if (owned.tab === tab) return owned.thread;
    }
    return undefined;
  }

  turnsOf(thread: string): TurnRecord[] {
    return [...this.turns.values()].filter((t) => t.thread === thread);
  }

  facts(): TurnFact[] {
    return [...this.turns.values()].map(fact);
  }
}

export function fact(record: TurnRecord): TurnFact {
  const { turn, thread, tab, send, stage, lastN, messageId } = record;
  return { turn, thread, tab, send, stage, lastN, ...(messageId ? { messageId } : {}) };
}
