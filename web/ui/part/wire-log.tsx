// What went to the model and came back, word by word: for the curious, never
// mixed with what the user wrote.

import { useState } from "preact/hooks";
import { getMessage } from "../api.ts";
import type { Message } from "../../protocol/api.ts";
import { count } from "../words.ts";
import { CopyButton } from "./copy-button.tsx";
import { useLoad } from "./hooks.ts";
import { Icon } from "./icon.tsx";

/** Of a longer message only the beginning is laid out. */
const mostShown = 200_000;

export function WireLog({ messages }: { messages: readonly Message[] }) {
  const [open, setOpen] = useState(false);
  if (messages.length === 0) return null;
  return (
    <div class="wire">
      <button type="button" class="quiet small" data-row aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="chevron" class="chevron" /> What was sent ({count(messages.length, "message")})
      </button>
      {open && messages.map((m) => <Entry message={m} key={m.id} />)}
    </div>
  );
}

function Entry({ message: known }: { message: Message }) {
  // An event holds only the beginning of a long message.
  const [whole] = useLoad((signal) => (known.cut ? getMessage(known.id, signal) : Promise.resolve(known)), [known]);
  const message = whole.state === "ok" ? whole.value : known;
  const text = message.wire || message.text;
  return (
    <figure class="code wire-entry">
      <figcaption>
        <span>
          {wireName(message)}
          <span class="faint"> round {message.round}</span>
          {message.recovered && <span class="tag">read from the page</span>}
          {message.kind !== "reply" && message.delivery && <span class="tag">{message.delivery}</span>}
          {message.model && <span class="faint"> {message.model}</span>}
        </span>
        <CopyButton text={() => text} />
      </figcaption>
      <pre tabIndex={0} aria-label={wireName(message)}>
        {text.length > mostShown ? `${text.slice(0, mostShown)}\n… (Copy takes all of it)` : text}
      </pre>
    </figure>
  );
}

function wireName(message: Message): string {
  switch (message.kind) {
    case "user":
      return "To the model: the task";
    case "results":
      return "To the model: results";
    case "correction":
      return "To the model: a correction";
    case "reply":
      return "From the model";
  }
}
