/**
 * The few parts of ProseMirror's EditorView that are used. The site bundles it under names of its own; only what
 * is part of its interface can be relied on.
 */
interface EditorView {
  dom: Node;
  state: EditorState;
  dispatch(transaction: Transaction): void;
}

interface EditorState {
  doc: DocNode;
  schema: { nodes: Record<string, NodeType | undefined>; text(text: string): DocNode };
  tr: Transaction;
}

interface NodeType {
  create(attrs: null, content: DocNode | null): DocNode;
}

interface DocNode {
  content: { size: number };
  textBetween(from: number, to: number, between: string, leaf?: (node: DocNode) => string): string;
}

interface Transaction {
  replaceWith(from: number, to: number, nodes: DocNode[]): Transaction;
  insert(at: number, nodes: DocNode | DocNode[]): Transaction;
}

const maxAncestors = 12;
const maxFibers = 40;
const maxHooks = 200;

type Bag = Record<PropertyKey, unknown>;

function isBag(value: unknown): value is Bag {
  return typeof value === "object" && value !== null;
}

function isView(value: unknown, node: Node): value is Bag & EditorView {
  if (!isBag(value)) return false;
  try {
    return value["dom"] === node && typeof value["dispatch"] === "function" && isBag(value["state"]);
  } catch {
    return false; // a getter of something else
  }
}

/** The view in a value, or in what it holds at the first level: a ref, a component, props. */
function viewIn(value: unknown, node: Node): EditorView | null {
  if (isView(value, node)) return value;
  if (!isBag(value) || value instanceof Node) return null;
  for (const key of Object.keys(value).slice(0, 100)) {
    let inner: unknown;
    try {
      inner = value[key];
    } catch {
      continue;
    }
    if (isView(inner, node)) return inner;
  }
  return null;
}

/** Some builds hang the view on the description of the editor's node. */
function viewByDescription(node: HTMLElement): EditorView | null {
  let desc: unknown = (node as unknown as Bag)["pmViewDesc"];
  for (let i = 0; isBag(desc) && i < maxAncestors; i++) {
    const view = viewIn(desc, node);
    if (view !== null) return view;
    desc = desc["parent"];
  }
  return null;
}

/** Climbs from the first ancestor that React knows through the components above it. */
function viewByFiber(node: HTMLElement): EditorView | null {
  let fiber: unknown;
  let element: HTMLElement | null = node;
  for (let i = 0; element !== null && i <= maxAncestors && fiber === undefined; i++, element = element.parentElement) {
    const key = Object.keys(element).find((k) => k.startsWith("__reactFiber$"));
    if (key !== undefined) fiber = (element as unknown as Bag)[key];
  }
  for (let i = 0; isBag(fiber) && i < maxFibers; i++, fiber = fiber["return"]) {
    const direct = viewIn(fiber["stateNode"], node) ?? viewIn(fiber["memoizedProps"], node);
    if (direct !== null) return direct;
    let hook: unknown = fiber["memoizedState"];
    for (let n = 0; isBag(hook) && n < maxHooks; n++, hook = hook["next"]) {
      const view = viewIn(hook["memoizedState"], node);
      if (view !== null) return view;
    }
  }
  return null;
}

export function findView(node: HTMLElement): EditorView | null {
  return viewByDescription(node) ?? viewByFiber(node);
}

function paragraphs(state: EditorState, text: string): DocNode[] {
  const type = state.schema.nodes["paragraph"];
  if (type === undefined) throw new Error("the editor has no paragraphs");
  return text.split(/\r\n|\r|\n/).map((line) => type.create(null, line === "" ? null : state.schema.text(line)));
}

/** Makes text the whole content: a paragraph for each line, in one transaction. */
export function replaceText(view: EditorView, text: string): void {
  const { state } = view;
  view.dispatch(state.tr.replaceWith(0, state.doc.content.size, paragraphs(state, text)));
}

/** Adds text at the end: its first line to the last paragraph, each further line as a paragraph of its own. */
export function appendText(view: EditorView, text: string): void {
  const [first = "", ...rest] = text.split(/\r\n|\r|\n/);
  const { state } = view;
  const end = state.doc.content.size;
  let tr = state.tr;
  if (rest.length > 0) tr = tr.insert(end, paragraphs(state, rest.join("\n")));
  if (first !== "") tr = tr.insert(end - 1, state.schema.text(first)); // the end of the last paragraph's inside
  view.dispatch(tr);
}

export function readText(view: EditorView): string {
  const { doc } = view.state;
  return doc.textBetween(0, doc.content.size, "\n", () => "\n");
}
