/** Waits, in a page whose timers may be slow because nobody looks at it. */
export interface Clock {
  /** Resolves after ms, or when signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/**
 * Looks at the page until look returns something, or ms are over: then it resolves to null. It looks when the page
 * changes, and not more often.
 */
export async function until<T>(look: () => T | null, ms: number, clock: Clock, signal: AbortSignal): Promise<T | null> {
  const now = look();
  if (now !== null || signal.aborted) return now;
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  return new Promise<T | null>((resolve) => {
    const finish = (found: T | null): void => {
      changes.disconnect();
      stop.abort();
      resolve(found);
    };
    const changes = new MutationObserver(() => {
      const found = look();
      if (found !== null) finish(found);
    });
    changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    void clock.sleep(ms, both).then(() => finish(look()));
  });
}

/** The text without what pages add, drop and change in white space, joiners and line ends. */
export function bare(text: string): string {
  return text.replace(/[\s\u200b\u200c\u200d\u2060\ufeff]+/gu, "");
}

/** Whether two texts begin alike in their letters and digits: enough to tell one message from another, whatever a site does to the rest. */
export function beginAlike(a: string, b: string): boolean {
  const start = (text: string): string => text.slice(0, 2000).replace(/[^\p{L}\p{N}]+/gu, "").slice(0, 64);
  return start(a) === start(b);
}

/** A short name for a text, to know it again without keeping it. */
export async function fingerprint(text: string): Promise<string> {
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(bare(text)));
  return Array.from(new Uint8Array(sum).subarray(0, 16), (b) => b.toString(16).padStart(2, "0")).join("");
}
