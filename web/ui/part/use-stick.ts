// The scroll of a timeline: stays at the end while the reader is there, and
// where the reader put it otherwise, whatever grows or shrinks above or below.

import { type RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import { useLife } from "./hooks.ts";

const near = 48;

export interface Stick {
  /** The reader is at the end. */
  stuck: boolean;
  toEnd(): void;
}

/** `key` names what is shown: with another one it begins at the end again. */
export function useStick(box: RefObject<HTMLElement | null>, content: RefObject<HTMLElement | null>, key: string): Stick {
  const [stuck, setStuck] = useState(true);
  const keeper = useRef<Keeper | null>(null);
  useLife(
    (signal) => {
      if (!box.current || !content.current) return;
      keeper.current = new Keeper(box.current, content.current, setStuck, signal);
    },
    [key],
  );
  return { stuck, toEnd: () => keeper.current?.toEnd() };
}

class Keeper {
  private following = true;
  /** The first thing in sight, and how far below the top edge it is. */
  private anchor: { el: Element; top: number } | null = null;
  private lastTop = 0;
  private lastHeight = 0;

  constructor(
    private readonly box: HTMLElement,
    private readonly content: HTMLElement,
    private readonly tell: (stuck: boolean) => void,
    signal: AbortSignal,
  ) {
    this.toEnd();
    box.addEventListener("scroll", () => this.scrolled(), { signal, passive: true });
    // What a reader opens grows downwards: the row stays under the pointer.
    content.addEventListener(
      "click",
      (event) => {
        if (!(event.target instanceof Element) || !event.target.closest("[aria-expanded], summary")) return;
        this.following = false;
        this.remember();
      },
      { signal, capture: true },
    );
    const sized = new ResizeObserver(() => this.sized());
    sized.observe(content);
    sized.observe(box);
    signal.addEventListener("abort", () => sized.disconnect(), { once: true });
  }

  toEnd(): void {
    this.box.scrollTop = this.box.scrollHeight;
    this.set(true);
    this.remember();
  }

  private set(following: boolean): void {
    this.following = following;
    this.tell(following);
  }

  private get atEnd(): boolean {
    return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < near;
  }

  private scrolled(): void {
    const moved = this.box.scrollTop - this.lastTop;
    if (moved === 0) return; // a move of ours, told late: the content may have changed since
    if (!this.following && this.box.scrollHeight !== this.lastHeight) this.settle(moved);
    if (this.atEnd) this.set(true);
    // Only a move upwards is the reader's: content that grows is not.
    else if (moved < 0) this.set(false);
    this.remember();
  }

  /** Called before the frame is painted, so that nothing is seen to jump. */
  private sized(): void {
    if (this.following) {
      this.box.scrollTop = this.box.scrollHeight;
    } else {
      this.settle(this.box.scrollTop - this.lastTop);
      this.set(this.atEnd);
    }
    this.remember();
  }

  /** Takes back what the content above the anchor grew; `moved` is what the reader scrolled meanwhile. */
  private settle(moved: number): void {
    if (!this.anchor?.el.isConnected) return;
    const grown = this.anchor.el.getBoundingClientRect().top - this.box.getBoundingClientRect().top - this.anchor.top + moved;
    if (Math.abs(grown) >= 1) this.box.scrollTop += grown;
  }

  private remember(): void {
    this.lastTop = this.box.scrollTop;
    this.lastHeight = this.box.scrollHeight;
    this.anchor = null;
    if (this.following) return; // the end is the anchor
    const edge = this.box.getBoundingClientRect().top;
    let el = firstBelow(this.content.children, edge);
    const inner = el && firstBelow(el.querySelectorAll(":scope > .happened > *"), edge);
    el = inner ?? el;
    if (el) this.anchor = { el, top: el.getBoundingClientRect().top - edge };
  }
}

function firstBelow(elements: ArrayLike<Element>, edge: number): Element | null {
  for (let i = 0; i < elements.length; i++) {
    const el = elements[i]!;
    // The mark for earlier pages stands still while they come in above the rest.
    if (!el.classList.contains("earlier") && el.getBoundingClientRect().bottom > edge) return el;
  }
  return null;
}
