import * as api from "../api.ts";
import { attempt } from "../commands.ts";
import { refreshServer } from "../state.ts";
import { Dialog } from "./dialog.tsx";

/** What a person must have read before a real chat site is driven. */
export function ConsentDialog({ onClose }: { onClose(): void }) {
  const agree = async () => {
    if (await attempt(() => api.agree("chatgpt"))) {
      await refreshServer();
      onClose();
    }
  };
  return (
    <Dialog title="Before Plexus uses your chat account" onClose={onClose}>
      <div class="prose">
        <p>
          Plexus can use a chat page that you are signed in to as its model: it types your tasks and the results of actions into a tab of its own, and
          reads the answers.
        </p>
        <ul>
          <li>
            <strong>Using a chat site from a program may break its terms of use.</strong> The account may be limited or closed. Nobody can promise that it
            will not.
          </li>
          <li>What the model asks to see of your folder goes to that site as part of the chat.</li>
          <li>Plexus reads no cookies or passwords of the page, and does not hide from the site what it is.</li>
          <li>It never types into tabs that you opened, and shows every tab of its own.</li>
        </ul>
        <p>
          Two ways that providers support need none of this: an OpenAI-compatible API with your own key, or a model on your own machine. Both are set up
          under Settings.
        </p>
      </div>
      <footer class="dialog-foot">
        <button type="button" onClick={onClose}>
          Not now
        </button>
        <button type="button" class="primary" onClick={() => void agree()}>
          I have read this and want it all the same
        </button>
      </footer>
    </Dialog>
  );
}
