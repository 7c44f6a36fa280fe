import { MaxFrameData, type StreamUpdate } from "../../protocol/link";
import type { Piece } from "../evidence";

export type Update = Omit<StreamUpdate, "type">;

/** Characters of updates that are kept until they are acknowledged. When there are more, the oldest go: that is a gap which shows. */
const maxHeld = 24 << 20;

/**
 * Numbers what the page's streams bring in one turn, and keeps it until the daemon has it. One batch is under way at a time: what
 * comes meanwhile is joined, so a fast stream costs few messages and a slow one has no delay.
 */
export class Updates {
  readonly turn: string;
  #next: number;
  #waiting: Piece[] = [];
  #held: Update[] = [];
  #size = 0;
  #underWay = false;
  /** Streams whose pieces may be joined. */
  readonly #fetches = new Set<string>();
  readonly #send: (update: Update) => boolean;

  /** send returns false when nobody takes updates now; they are held then, and sent when they are asked for. */
  constructor(turn: string, first: number, send: (update: Update) => boolean) {
    this.turn = turn;
    this.#next = first;
    this.#send = send;
  }

  get lastN(): number {
    return this.#next - 1;
  }

  add(piece: Piece): void {
    const last = this.#waiting.at(-1);
    if (last !== undefined && joins(last, piece, this.#fetches)) {
      last.data = (last.data ?? "") + (piece.data ?? "");
    } else {
      this.#waiting.push({ ...piece });
    }
    if (piece.event === "open" && piece.source === "fetch") this.#fetches.add(piece.stream);
    if (!this.#underWay) this.#flush();
  }

  /** The batch under way was taken. */
  taken(): void {
    this.#underWay = false;
    if (this.#waiting.length > 0) this.#flush();
  }

  #flush(): void {
    for (const update of this.#number()) {
      if (this.#send(update)) this.#underWay = true;
    }
  }

  /** Makes updates of what waits, and holds them. */
  #number(): Update[] {
    const updates = this.#waiting.map(({ stream, event, source, url, status, data }) => {
      const update: Update = { turn: this.turn, n: this.#next++, stream, event };
      if (source !== undefined) update.source = source;
      if (url !== undefined) update.url = url;
      if (status !== undefined) update.status = status;
      if (data !== undefined) update.data = data;
      return update;
    });
    this.#waiting = [];
    for (const update of updates) this.#hold(update);
    return updates;
  }

  #hold(update: Update): void {
    this.#held.push(update);
    this.#size += size(update);
    while (this.#size > maxHeld && this.#held.length > 1) this.#drop();
  }

  #drop(): void {
    const first = this.#held.shift();
    if (first !== undefined) this.#size -= size(first);
  }

  /** Forgets updates up to n. */
  acknowledge(n: number): void {
    while (this.#held[0] !== undefined && this.#held[0].n <= n) this.#drop();
  }

  /** Sends again what is held from a number on, and says which numbers that were. */
  resume(from: number): { first: number; last: number } {
    this.#number();
    const again = this.#held.filter((u) => u.n >= from);
    for (const update of again) this.#send(update);
    return { first: again[0]?.n ?? 0, last: again.at(-1)?.n ?? 0 };
  }
}

function size(update: Update): number {
  return 200 + (update.data?.length ?? 0);
}

/** Only the bytes of a fetch may be joined: a message of a WebSocket is whole in itself. */
function joins(last: Piece, next: Piece, fetches: Set<string>): boolean {
  return (
    last.event === "data" &&
    next.event === "data" &&
    last.stream === next.stream &&
    fetches.has(next.stream) &&
    (last.data?.length ?? 0) + (next.data?.length ?? 0) <= MaxFrameData
  );
}
