// Work gathered for the next animation frame. A hidden page has no frames, so a
// timer stands in.

/** Calls run at most once a frame, however often it is asked for. Ends with the signal. */
export function onFrame(run: () => void, signal: AbortSignal): () => void {
  let frame = 0;
  let timer = 0;
  const go = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = timer = 0;
    if (!signal.aborted) run();
  };
  signal.addEventListener("abort", go, { once: true });
  return () => {
    if (frame !== 0 || timer !== 0 || signal.aborted) return;
    if (!document.hidden) frame = requestAnimationFrame(go);
    timer = setTimeout(go, 200);
  };
}
