import type { Notice } from "../../protocol/api.ts";
import { Icon } from "./icon.tsx";
import { WordsWithCode } from "./words-with-code.tsx";

/** Something that a person should know: what happened and was kept, and what to do. */
export function NoticeBox({ notice }: { notice: Notice }) {
  const tone = notice.tone === "error" || notice.tone === "warn" ? notice.tone : "info";
  return (
    <div class={`notice ${tone}`} role={tone === "error" ? "alert" : "note"}>
      <Icon name={tone === "info" ? "info" : "alert"} />
      <div>
        <p>
          <WordsWithCode text={notice.text} />
        </p>
        {notice.todo && (
          <p class="todo">
            <WordsWithCode text={notice.todo} />
          </p>
        )}
      </div>
    </div>
  );
}
