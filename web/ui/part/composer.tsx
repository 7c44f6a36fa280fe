// Where tasks are written. What is written survives a reload.

import { useEffect, useRef, useState } from "preact/hooks";
import { draft } from "../prefs.ts";
import { sendKey } from "../state.ts";
import { Icon } from "./icon.tsx";

interface Props {
  /** Key of the draft: the thread, or "new". Another one needs another composer. */
  slot: string;
  placeholder: string;
  sendLabel: string;
  /** Earlier tasks, newest last, for the Up key. */
  history: readonly string[];
  disabled?: boolean;
  /** Text put in from elsewhere; a new object replaces what is written. */
  insert?: { text: string } | null;
  /** Resolves to whether it was taken; then the composer is emptied. */
  send(text: string): Promise<boolean>;
}

/**
 * The text of a composer, kept as the draft of `slot`: a moment after it was
 * written, as a long one takes time to store, and at once when composer or page go.
 */
function useDraft(slot: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => draft.get(slot));
  const held = useRef(text);
  const save = () => draft.set(slot, held.current.length > most ? "" : held.current);
  useEffect(() => {
    const life = new AbortController();
    addEventListener("pagehide", save, { signal: life.signal });
    return () => {
      life.abort();
      save();
    };
  }, [slot]);
  useEffect(() => {
    const timer = setTimeout(save, 200);
    return () => clearTimeout(timer);
  }, [slot, text]);
  const write = (next: string) => {
    held.current = next;
    setText(next);
  };
  return [text, write];
}

/** The daemon takes a task of at most this many bytes. */
const most = 1 << 20;

export function Composer({ slot, placeholder, sendLabel, history, disabled, insert, send }: Props) {
  const [text, write] = useDraft(slot);
  const [busy, setBusy] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const place = useRef<number | null>(null);

  useEffect(() => {
    if (!insert) return;
    write(insert.text);
    box.current?.focus();
  }, [insert]);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    el.style.height = "auto";
    el.style.height = `${Math.min(el.scrollHeight + 2, innerHeight * 0.4)}px`;
  }, [text]);

  const tooLong = text.length > most;
  const ready = text.trim() !== "" && !busy && !disabled && !tooLong;
  const submit = async () => {
    if (!ready) return;
    setBusy(true);
    const taken = await send(text);
    setBusy(false);
    if (taken) {
      write("");
      place.current = null;
    }
    box.current?.focus();
  };
  const recall = (step: number): boolean => {
    const at = place.current ?? history.length;
    const to = at + step;
    if (to < 0 || to > history.length || (place.current === null && (text !== "" || step > 0))) return false;
    place.current = to === history.length ? null : to;
    write(history[to] ?? "");
    return true;
  };
  const keys = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const mod = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && (mod || (sendKey.value === "enter" && !event.shiftKey))) {
      event.preventDefault();
      void submit();
      return;
    }
    const plain = !mod && !event.altKey && !event.shiftKey;
    if (plain && (event.key === "ArrowUp" || event.key === "ArrowDown") && (text === "" || place.current !== null)) {
      if (recall(event.key === "ArrowUp" ? -1 : 1)) event.preventDefault();
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <textarea
        id="composer"
        ref={box}
        rows={2}
        value={text}
        placeholder={placeholder}
        aria-label="Task"
        aria-describedby="composer-hint"
        onInput={(event) => {
          place.current = null;
          write(event.currentTarget.value);
        }}
        onKeyDown={keys}
      />
      <div class="composer-foot">
        <span class="faint" id="composer-hint">
          {tooLong ? (
            "Longer than Plexus takes: put the long part into a file in the folder and name it."
          ) : (
            <span class="wide-only">{sendKey.value === "enter" ? "Enter sends, Shift+Enter breaks the line" : "Ctrl+Enter sends"}</span>
          )}
        </span>
        <button type="submit" class="primary" disabled={!ready}>
          <Icon name="send" /> {sendLabel}
        </button>
      </div>
    </form>
  );
}
