// Markdown as nodes. Safe by construction: nothing becomes HTML by itself; each
// token that is known makes an element of ours, everything else shows as text.

import MarkdownIt from "markdown-it";
import { type ComponentChildren, Fragment, h } from "preact";
import { memo } from "./memo.ts";
import { CodeBlock } from "./code-block.tsx";

const parser = new MarkdownIt({ html: false, linkify: true, typographer: false });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });

type Token = ReturnType<typeof parser.parse>[number];

/** Elements that stand for a pair of tokens. */
const pairs: Readonly<Record<string, string>> = {
  paragraph: "p",
  bullet_list: "ul",
  ordered_list: "ol",
  list_item: "li",
  blockquote: "blockquote",
  table: "table",
  thead: "thead",
  tbody: "tbody",
  tr: "tr",
  th: "th",
  td: "td",
  em: "em",
  strong: "strong",
  s: "s",
};

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const tokens = parser.parse(text, {});
  return <>{render(tokens, headingLevels(tokens))}</>;
});

/** One line: emphasis, code and links, and no blocks. */
export const MarkdownLine = memo(function MarkdownLine({ text }: { text: string }) {
  return <>{render(parser.parseInline(text, {}), new Map())}</>;
});

interface Open {
  make(children: ComponentChildren[]): ComponentChildren;
  children: ComponentChildren[];
}

/** Headings sit below those of the page, without a level left out, whatever levels the text uses. */
function headingLevels(tokens: readonly Token[]): ReadonlyMap<string, number> {
  const used = new Set(tokens.filter((t) => t.type === "heading_open").map((t) => t.tag));
  return new Map([...used].sort().map((tag, i) => [tag, Math.min(6, i + 3)]));
}

function render(tokens: readonly Token[], headings: ReadonlyMap<string, number>): ComponentChildren[] {
  const root: Open = { make: (c) => h(Fragment, null, ...c), children: [] };
  const stack: Open[] = [root];
  const add = (child: ComponentChildren) => stack.at(-1)!.children.push(child);
  for (const token of tokens) {
    if (token.nesting === 1) {
      stack.push({ make: opener(token, headings), children: [] });
    } else if (token.nesting === -1) {
      const done = stack.length > 1 ? stack.pop() : undefined;
      if (done) add(done.make(done.children));
    } else add(leaf(token, headings));
  }
  return root.children;
}

function opener(token: Token, headings: ReadonlyMap<string, number>): Open["make"] {
  const name = token.type.replace(/_open$/, "");
  if (name === "link") return (children) => link(attr(token, "href"), children);
  if (name === "heading") {
    const level = headings.get(token.tag) ?? 6;
    return (children) => h(`h${level}`, { class: `h${token.tag.slice(1)}` }, ...children);
  }
  if (name === "paragraph" && token.hidden) return (children) => h(Fragment, null, ...children);
  if (name === "table") {
    return (children) => (
      <div class="table" tabIndex={0} role="region" aria-label="Table">
        {h("table", null, ...children)}
      </div>
    );
  }
  const tag = pairs[name];
  if (!tag) return (children) => h(Fragment, null, ...children);
  const props: Record<string, string | number> = {};
  if (tag === "ol") {
    const start = Number(attr(token, "start"));
    if (Number.isInteger(start) && start > 1) props["start"] = start;
  }
  if (tag === "th" || tag === "td") {
    const align = /text-align:(left|right|center)/.exec(attr(token, "style"))?.[1];
    if (align) props["class"] = `align-${align}`;
  }
  return (children) => h(tag, props, ...children);
}

function leaf(token: Token, headings: ReadonlyMap<string, number>): ComponentChildren {
  switch (token.type) {
    case "inline":
      return h(Fragment, null, ...render(token.children ?? [], headings));
    case "text":
      return token.content;
    case "softbreak":
      return "\n";
    case "hardbreak":
      return <br />;
    case "hr":
      return <hr />;
    case "code_inline":
      return <code>{token.content}</code>;
    case "fence":
    case "code_block":
      return <CodeBlock lang={token.info.trim().split(/\s+/)[0] ?? ""} code={token.content} />;
    case "image":
      // Nothing is loaded from elsewhere: an image is offered as a link.
      return link(attr(token, "src"), [token.content || "image"]);
    default:
      return token.content;
  }
}

function link(href: string, children: ComponentChildren[]): ComponentChildren {
  const safe = webAddress(href);
  if (!safe) return h(Fragment, null, ...children);
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow">
      {h(Fragment, null, ...children)}
    </a>
  );
}

/** Only http and https are links; anything else stays text. */
export function webAddress(href: string): string {
  try {
    const url = new URL(href);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : "";
  } catch {
    return "";
  }
}

function attr(token: Token, name: string): string {
  return String(token.attrGet(name) ?? "");
}
