import { ApiError } from "../api.ts";
import { Icon } from "./icon.tsx";
import { WordsWithCode } from "./words-with-code.tsx";

/** Something that could not be shown: what happened, what to do, another try. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const text = error instanceof Error ? error.message : String(error);
  const todo = error instanceof ApiError ? error.todo : "";
  return (
    <div class="notice error" role="alert">
      <Icon name="alert" />
      <div>
        <p>
          <WordsWithCode text={text} />
        </p>
        {todo && (
          <p class="todo">
            <WordsWithCode text={todo} />
          </p>
        )}
        {retry && (
          <button type="button" class="small" onClick={retry}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" /> Loading {what}
    </p>
  );
}

/** An empty place that says what to do next. */
export function Empty({ title, text, children }: { title: string; text: string; children?: preact.ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      <p>{text}</p>
      {children && <div class="buttons">{children}</div>}
    </div>
  );
}
