import { dismiss, toasts } from "../toast.ts";
import { Icon } from "./icon.tsx";
import { WordsWithCode } from "./words-with-code.tsx";

export function Toasts() {
  return (
    <div class="toasts" role="region" aria-label="Messages" aria-live="polite">
      {toasts.value.map((t) => (
        <div class={`toast ${t.tone}`} key={t.id} role={t.tone === "error" ? "alert" : undefined}>
          <p>
            <WordsWithCode text={t.text} />
            {t.todo && (
              <span class="todo">
                <WordsWithCode text={t.todo} />
              </span>
            )}
          </p>
          {t.action && (
            <button
              type="button"
              class="small"
              onClick={() => {
                t.action?.run();
                dismiss(t.id);
              }}
            >
              {t.action.label}
            </button>
          )}
          <button type="button" class="quiet icon-only" aria-label="Dismiss" onClick={() => dismiss(t.id)}>
            <Icon name="cross" />
          </button>
        </div>
      ))}
    </div>
  );
}
