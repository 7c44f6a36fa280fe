/** Parts of a message that are furniture of the page. */
const furniture = "button, [role='button'], .code-head, [data-testid*='turn-action'], .sr-only, svg, style, script";
/** Elements that begin and end a paragraph. */
const blocks = new Set(["P", "DIV", "SECTION", "ARTICLE", "UL", "OL", "BLOCKQUOTE", "TABLE", "HR", "H1", "H2", "H3", "H4", "H5", "H6", "DL"]);

/**
 * The text of a rendered message, as near to what was written as the page still shows. It reads the nodes and not the
 * layout: a hidden tab has none.
 */
export function renderedText(root: Element): string {
  return children(root)
    .replace(/[ \t]+\n/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

function children(node: Node): string {
  let text = "";
  for (const child of node.childNodes) text += write(child);
  return text;
}

function write(node: Node): string {
  if (node.nodeType === Node.TEXT_NODE) return node.nodeValue ?? "";
  if (!(node instanceof Element) || node.matches(furniture)) return "";
  switch (node.tagName) {
    case "BR":
      return "\n";
    case "PRE":
      return fence(node);
    case "CODE":
      return `\`${node.textContent ?? ""}\``;
    case "STRONG":
    case "B":
      return `**${children(node)}**`;
    case "EM":
    case "I":
      return `*${children(node)}*`;
    case "A":
      return link(node);
    case "LI":
      return item(node);
    case "TR":
      return `${[...node.children].map((cell) => children(cell).trim()).join(" | ")}\n`;
    case "HR":
      return "\n\n---\n\n";
    case "BLOCKQUOTE":
      return `\n\n${renderedText(node).replace(/^/gm, "> ")}\n\n`;
  }
  if (/^H[1-6]$/.test(node.tagName)) return `\n\n${"#".repeat(Number(node.tagName[1]))} ${children(node).trim()}\n\n`;
  return blocks.has(node.tagName) ? `\n\n${children(node)}\n\n` : children(node);
}

/** A code block without the line above it that names the language. */
function fence(pre: Element): string {
  const code = pre.querySelector("code");
  const language = /(?:^|\s)language-(\S+)/.exec(code?.className ?? "")?.[1] ?? "";
  const text = (code ?? pre).textContent ?? "";
  return `\n\n\`\`\`${language}\n${text.replace(/\n$/, "")}\n\`\`\`\n\n`;
}

function link(node: Element): string {
  const text = children(node);
  const href = node.getAttribute("href") ?? "";
  return href === "" || href === text ? text : `[${text}](${href})`;
}

function item(node: Element): string {
  const list = node.parentElement;
  const mark = list?.tagName === "OL" ? `${[...list.children].indexOf(node) + Number(list.getAttribute("start") ?? 1)}. ` : "- ";
  const inner = renderedText(node).replace(/\n/g, `\n${" ".repeat(mark.length)}`);
  return `${mark}${inner}\n`;
}
