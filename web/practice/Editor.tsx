import { baseKeymap, splitBlock } from "prosemirror-commands";
import { history, redo, undo } from "prosemirror-history";
import { keymap } from "prosemirror-keymap";
import { Schema, Slice, Fragment, type Node } from "prosemirror-model";
import { nodes } from "prosemirror-schema-basic";
import { EditorState, Plugin } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { useEffect, useRef } from "react";

/** What the composer hears from its editor, and wants of it. */
export interface EditorHandlers {
  onView: (view: EditorView | null) => void;
  onChange: (text: string) => void;
  onEnter: () => void;
  onLongPaste: (text: string) => void;
  pasteLimit: number;
  initial: string;
}

const schema = new Schema({
  nodes: { doc: nodes.doc, paragraph: nodes.paragraph, text: nodes.text, hard_break: nodes.hard_break },
});

/** The text of a document as it is sent: a line for each paragraph. */
export function docText(doc: Node): string {
  return doc.textBetween(0, doc.content.size, "\n", (leaf) => (leaf.type === schema.nodes["hard_break"] ? "\n" : ""));
}

function paragraphs(text: string): Fragment {
  const lines = text.split(/\r\n|\r|\n/);
  return Fragment.from(lines.map((line) => schema.node("paragraph", null, line === "" ? [] : [schema.text(line)])));
}

/** Replaces the whole text. */
export function setText(view: EditorView, text: string): void {
  view.dispatch(view.state.tr.replaceWith(0, view.state.doc.content.size, paragraphs(text)));
}

/** Puts text where the cursor is. */
export function insertText(view: EditorView, text: string): void {
  view.dispatch(view.state.tr.replaceSelection(new Slice(paragraphs(text), 1, 1)).scrollIntoView());
}

/** The ProseMirror editor. Its view is handed to the composer and kept nowhere in the page's reach. */
export function Editor({ handlers }: { handlers: EditorHandlers }) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    const view = build(host.current, () => latest.current);
    latest.current.onView(view);
    view.focus();
    return () => {
      latest.current.onView(null);
      view.destroy();
    };
  }, []);
  return <div ref={host} className="editor-host" />;
}

function build(host: HTMLElement | null, handlers: () => EditorHandlers): EditorView {
  const doc = schema.node("doc", null, paragraphs(handlers().initial));
  if (handlers().initial !== "") handlers().onChange(handlers().initial);
  const report = new Plugin({
    view: () => ({
      update: (view, before) => {
        if (!before.doc.eq(view.state.doc)) handlers().onChange(docText(view.state.doc));
      },
    }),
  });
  const enter = (): boolean => {
    handlers().onEnter();
    return true;
  };
  const state = EditorState.create({
    doc,
    plugins: [
      history(),
      keymap({ Enter: enter, "Shift-Enter": splitBlock, "Mod-z": undo, "Mod-y": redo, "Mod-Shift-z": redo }),
      keymap(baseKeymap),
      report,
    ],
  });
  return new EditorView(host, {
    state,
    attributes: (s) => ({
      id: "prompt-textarea",
      class: docText(s.doc) === "" ? "ProseMirror is-empty" : "ProseMirror",
      "data-placeholder": "Ask anything",
      "data-virtualkeyboard": "true",
      translate: "no",
    }),
    handlePaste: (view, event) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (text === "") return false;
      if (text.length > handlers().pasteLimit) {
        handlers().onLongPaste(text);
      } else {
        insertText(view, text);
      }
      return true;
    },
  });
}
