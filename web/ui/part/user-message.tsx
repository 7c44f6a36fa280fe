import { useState } from "preact/hooks";
import type { Message, Turn } from "../../protocol/api.ts";
import { CopyButton } from "./copy-button.tsx";
import { Icon } from "./icon.tsx";

const longLines = 14;
const longText = 1600;

/** What the user asked, and what is known of its way to the model. */
export function UserMessage({ turn, message }: { turn: Turn | undefined; message: Message | undefined }) {
  // The turn has the task whole; an event holds only the beginning of a long message.
  const text = turn?.task ?? message?.text ?? "";
  const long = text.length > longText || text.split("\n", longLines + 1).length > longLines;
  const [all, setAll] = useState(false);
  return (
    <div class="user">
      <h2 class="sr">You</h2>
      <div class={`user-text ${long && !all ? "clipped" : ""}`}>{long && !all ? text.slice(0, 4 * longText) : text}</div>
      {long && (
        <button type="button" class="quiet small show-all" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Show less" : "Show all"}
        </button>
      )}
      <div class="user-tools">
        <CopyButton text={() => text} />
      </div>
      {message && <DeliveryMark message={message} ended={turn?.ended !== undefined} />}
    </div>
  );
}

function DeliveryMark({ message, ended }: { message: Message; ended: boolean }) {
  switch (message.delivery) {
    case "unknown":
      return (
        <p class="delivery warn">
          <Icon name="alert" /> It is not known whether this reached the model. Plexus does not send it again by itself.
        </p>
      );
    case "failed":
      return (
        <p class="delivery warn">
          <Icon name="cross" /> This did not reach the model.
        </p>
      );
    case "attempting":
    case "dispatched":
      return ended ? null : <p class="delivery faint">On its way to the model</p>;
    default:
      return null;
  }
}
