import type { EditorView } from "prosemirror-view";
import { useCallback, useEffect, useRef, useState, type FormEvent } from "react";
import { useChat, usePage } from "./App";
import type { Attachment } from "./api";
import { readDraft, writeDraft } from "./drafts";
import { docText, Editor, insertText, setText, type EditorHandlers } from "./Editor";
import { Icon } from "./Icon";

interface Chip extends Attachment {
  id: string;
  uploading: boolean;
}

/** How long a pasted text takes to become a file. */
const uploadMs = 400;

export function Composer() {
  const { boot, chat, faults } = usePage();
  const { busy, route } = useChat();
  // The page's only hold on the editor.
  const view = useRef<EditorView | null>(null);
  const [text, setTyped] = useState("");
  const [chips, setChips] = useState<Chip[]>([]);
  const draftKey = route.kind === "chat" ? route.id : "new";
  const draft = useDraft(draftKey);

  const onView = useCallback((made: EditorView | null) => {
    view.current = made;
  }, []);
  const send = useCallback(async () => {
    const editor = view.current;
    if (editor === null || faults.swallowsClick()) return;
    const message = docText(editor.state.doc);
    const attachments = chips.map(({ name, text: content }) => ({ name, text: content }));
    if (chat.state().busy || chips.some((c) => c.uploading) || (message.trim() === "" && chips.length === 0)) return;
    setText(editor, "");
    setChips([]);
    draft.forget();
    const taken = await chat.send(message, attachments);
    if (!taken && view.current !== null) {
      setText(view.current, message);
      setChips(chips);
    }
  }, [chat, chips, draft, faults]);

  const handlers: EditorHandlers = {
    onView,
    onChange: (typed) => {
      setTyped(typed);
      draft.keep(typed);
    },
    onEnter: () => void send(),
    onLongPaste: (pasted) => {
      const id = crypto.randomUUID();
      setChips((all) => [...all, { id, name: "Pasted text.txt", text: pasted, uploading: true }]);
      setTimeout(() => setChips((all) => all.map((c) => (c.id === id ? { ...c, uploading: false } : c))), uploadMs);
    },
    pasteLimit: boot.pasteLimit,
    initial: draft.initial,
  };
  const remove = (id: string): void => setChips((all) => all.filter((c) => c.id !== id));
  const unfold = (chip: Chip): void => {
    remove(chip.id);
    if (view.current) insertText(view.current, chip.text);
  };

  return (
    <form data-chatgpt-composer="" className="composer" onSubmit={(event: FormEvent) => event.preventDefault()}>
      {chips.map((chip) => (
        <Pasted key={chip.id} chip={chip} onRemove={() => remove(chip.id)} onShow={() => unfold(chip)} />
      ))}
      <textarea name="prompt-textarea" hidden readOnly value={text} />
      <Field handlers={handlers} />
      <div className="composer-footer" data-testid="composer-trailing-actions">
        <button type="button" id="composer-plus-btn" data-testid="composer-plus-btn" aria-label="Add files and more" className="round quiet">
          <Icon name="plus" />
        </button>
        <SubmitButton busy={busy} filled={text.trim() !== "" || chips.length > 0} uploading={chips.some((c) => c.uploading)} onSend={() => void send()} />
      </div>
    </form>
  );
}

function Field({ handlers }: { handlers: EditorHandlers }) {
  return (
    <div className="field">
      <Editor handlers={handlers} />
    </div>
  );
}

function SubmitButton(props: { busy: boolean; filled: boolean; uploading: boolean; onSend: () => void }) {
  const { boot, chat } = usePage();
  const shape = "round size-token-button-composer";
  if (props.busy) {
    const named = boot.stop === "aria" ? { "aria-label": "Stop" } : { "aria-label": "Stop streaming", "data-testid": "stop-button", id: "composer-submit-button" };
    return (
      <button type="button" className={shape} {...named} onClick={() => void chat.stop()}>
        <svg width="12" height="12" aria-hidden="true">
          <rect width="12" height="12" rx="2" fill="currentColor" />
        </svg>
      </button>
    );
  }
  if (!props.filled) {
    return (
      <button type="button" className={shape} data-testid="composer-speech-button" aria-label="Start voice mode">
        <Icon name="wave" />
      </button>
    );
  }
  return (
    <button type="button" id="composer-submit-button" data-testid="send-button" aria-label="Send prompt" className={shape} disabled={props.uploading} onClick={props.onSend}>
      <Icon name="up" />
    </button>
  );
}

function Pasted(props: { chip: Chip; onRemove: () => void; onShow: () => void }) {
  return (
    <div role="group" aria-label={props.chip.name} className="chip" aria-busy={props.chip.uploading}>
      <span>
        <strong>Pasted text</strong>
        <small>{props.chip.uploading ? "Adding…" : `${props.chip.text.length.toLocaleString()} characters`}</small>
      </span>
      <button type="button" className="quiet" onClick={props.onShow}>
        Show in text field
      </button>
      <button type="button" className="quiet" aria-label="Remove pasted text attachment" onClick={props.onRemove}>
        <Icon name="close" />
      </button>
    </div>
  );
}

/** Keeps what is typed, a moment after it was typed. */
function useDraft(key: string): { initial: string; keep: (text: string) => void; forget: () => void } {
  const timer = useRef(0);
  const current = useRef(key);
  current.current = key;
  const [initial] = useState(() => readDraft(key));
  useEffect(() => () => clearTimeout(timer.current), []);
  const [actions] = useState(() => ({
    keep: (text: string): void => {
      clearTimeout(timer.current);
      timer.current = window.setTimeout(() => writeDraft(current.current, text), 300);
    },
    forget: (): void => {
      clearTimeout(timer.current);
      writeDraft(current.current, "");
    },
  }));
  return { initial, ...actions };
}
