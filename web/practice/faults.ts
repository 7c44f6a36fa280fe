/** Faults that the server leaves to the page; asked for as long as the page lives. */
export class PageFaults {
  #swallow = 0;

  async watch(): Promise<void> {
    for (;;) {
      try {
        const response = await fetch("/practice/page-faults");
        for (const fault of (await response.json()) as { name: string; count?: number; skip?: number }[]) {
          if (fault.name === "swallow-click") this.#swallow += fault.count ?? 1;
        }
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
  }

  /** Whether the click that just came shall do nothing. */
  swallowsClick(): boolean {
    if (this.#swallow === 0) return false;
    this.#swallow--;
    return true;
  }
}
