// The scroll of a timeline: stays at the end while the reader is there, and
// where the reader put it otherwise.

import { type RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLife } from "./hooks.ts";

const near = 48;

export interface Stick {
  /** The reader is at the end. */
  stuck: boolean;
  toEnd(): void;
}

/** `first` is the oldest thing shown: when it changes, what was added above does not move the rest. */
export function useStick(box: RefObject<HTMLElement | null>, content: RefObject<HTMLElement | null>, first: number, key: string): Stick {
  const [stuck, setStuck] = useState(true);
  const now = useRef(true);
  const height = useRef({ first, height: 0 });
  const set = (value: boolean) => {
    now.current = value;
    setStuck(value);
  };
  const toEnd = () => {
    const el = box.current;
    if (el) el.scrollTop = el.scrollHeight;
    set(true);
  };
  useLife(
    (signal) => {
      const el = box.current;
      const inner = content.current;
      if (!el || !inner) return;
      toEnd();
      let top = el.scrollTop;
      el.addEventListener(
        "scroll",
        () => {
          const atEnd = el.scrollHeight - el.scrollTop - el.clientHeight < near;
          // Only a move upwards is the reader's: content that grows is not.
          if (atEnd) set(true);
          else if (el.scrollTop < top) set(false);
          top = el.scrollTop;
        },
        { signal, passive: true },
      );
      const sized = new ResizeObserver(() => {
        if (now.current) el.scrollTop = el.scrollHeight;
        height.current.height = el.scrollHeight;
      });
      sized.observe(inner);
      sized.observe(el);
      signal.addEventListener("abort", () => sized.disconnect(), { once: true });
    },
    [key],
  );
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    const before = height.current;
    if (before.first > 0 && first < before.first && !now.current && before.height > 0) el.scrollTop += el.scrollHeight - before.height;
    height.current = { first, height: el.scrollHeight };
  }, [first]);
  return { stuck, toEnd };
}
