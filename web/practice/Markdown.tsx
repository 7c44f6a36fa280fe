import MarkdownIt from "markdown-it";
import { memo, useEffect, useMemo, useRef, useState, type MouseEvent } from "react";

const markdown = new MarkdownIt({ html: false, linkify: false });

// The real site takes anything in angle brackets for HTML that it does not know, and shows nothing of it.
markdown.inline.ruler.before("autolink", "swallow", (state, silent) => {
  const tag = /^<\/?[A-Za-z][^<>]*>/.exec(state.src.slice(state.pos, state.pos + 2000));
  if (tag === null || /^<https?:/i.test(tag[0])) return false;
  if (!silent) state.pos += tag[0].length;
  return true;
});

// A code block has a head of its own, which is part of the text that a reader of the page gets.
markdown.renderer.rules.fence = (tokens, i) => {
  const token = tokens[i];
  const escape = markdown.utils.escapeHtml;
  const language = token?.info.trim().split(/\s+/)[0] ?? "";
  const head = `<div class="code-head"><span>${escape(language === "" ? "text" : language)}</span><button type="button" data-copy>Copy code</button></div>`;
  return `<pre>${head}<code>${escape(token?.content ?? "")}</code></pre>`;
};

/** Renders an answer. While it streams, it is rendered anew only as often as that is cheap. */
export const Markdown = memo(function Markdown({ text, streaming }: { text: string; streaming: boolean }) {
  const html = useRendered(text, streaming);
  const copy = (event: MouseEvent): void => {
    const button = event.target instanceof HTMLElement ? event.target.closest("[data-copy]") : null;
    const code = button?.closest("pre")?.querySelector("code")?.textContent;
    if (code) void navigator.clipboard.writeText(code);
  };
  return <div className="markdown prose" onClick={copy} dangerouslySetInnerHTML={{ __html: html }} />;
});

function useRendered(text: string, streaming: boolean): string {
  const whole = useMemo(() => (streaming ? "" : markdown.render(text)), [text, streaming]);
  const [partial, setPartial] = useState("");
  const latest = useRef(text);
  const timer = useRef(0);
  const pause = useRef(0);
  latest.current = text;
  useEffect(() => {
    if (!streaming || timer.current !== 0) return;
    timer.current = window.setTimeout(() => {
      timer.current = 0;
      const start = performance.now();
      setPartial(markdown.render(latest.current));
      pause.current = 4 * (performance.now() - start);
    }, pause.current);
  }, [text, streaming]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return streaming ? partial : whole;
}
