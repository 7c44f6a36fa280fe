// Small hooks. Every listener and timer in here ends with its component.

import { useEffect, useRef, useState } from "preact/hooks";

/** Runs with a signal that ends when deps change or the component goes. */
export function useLife(run: (signal: AbortSignal) => void, deps: readonly unknown[]): void {
  useEffect(() => {
    const life = new AbortController();
    run(life.signal);
    return () => life.abort();
  }, deps as unknown[]);
}

/** The time, again each `every` milliseconds while `on`. */
export function useNow(every: number, on = true): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!on) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every, on]);
  return now;
}

export type Loaded<T> = { state: "loading" } | { state: "ok"; value: T } | { state: "failed"; error: unknown };

/** Loads once per deps; `again` loads anew and keeps showing what is there meanwhile. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, deps: readonly unknown[]): [Loaded<T>, () => void] {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: "loading" });
  const [turn, setTurn] = useState(0);
  useLife(
    (signal) => {
      load(signal).then(
        (value) => signal.aborted || setLoaded({ state: "ok", value }),
        (error: unknown) => signal.aborted || setLoaded({ state: "failed", error }),
      );
    },
    [...deps, turn],
  );
  return [loaded, () => setTurn((n) => n + 1)];
}

/** The value, once it stood still for `ms`. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** A ref that always holds the newest value, for handlers that live longer than a render. */
export function useLatest<T>(value: T): { readonly current: T } {
  const ref = useRef(value);
  ref.current = value;
  return ref;
}

/** As a ref: the field has the focus, its text selected, when it appears. */
export function takeFocus(field: HTMLInputElement | HTMLTextAreaElement | null): void {
  field?.focus();
  field?.select();
}
