// Picks a folder on the daemon's machine and approves it.

import { useState } from "preact/hooks";
import * as api from "../api.ts";
import { attempt } from "../commands.ts";
import { refreshServer, server } from "../state.ts";
import type { Folder } from "../../protocol/api.ts";
import { Dialog } from "./dialog.tsx";
import { Failure, Loading } from "./failure.tsx";
import { useLoad } from "./hooks.ts";
import { Icon } from "./icon.tsx";
import { levels } from "./thread-head.tsx";

export function DirPicker({ onClose, onApproved }: { onClose(): void; onApproved(folder: Folder): void }) {
  const [path, setPath] = useState("");
  const [typed, setTyped] = useState<string | null>(null);
  const [level, setLevel] = useState("auto-review");
  const [dirs, again] = useLoad((signal) => api.getDirs(path, signal), [path]);
  const here = dirs.state === "ok" ? dirs.value.path : path;
  const known = server.value?.folders.find((f) => f.path === here);
  const approve = async () => {
    const done = await attempt(async () => {
      const folder = await api.addFolder(here, level);
      await refreshServer();
      onApproved(folder);
    });
    if (done) onClose();
  };
  const open = (to: string) => {
    setTyped(null);
    setPath(to);
  };
  return (
    <Dialog title="Approve a folder" onClose={onClose} wide>
      <form
        class="path-line"
        onSubmit={(e) => {
          e.preventDefault();
          if (typed) open(typed);
        }}
      >
        <button
          type="button"
          class="icon-only"
          aria-label="Up to the folder above"
          disabled={dirs.state !== "ok" || dirs.value.parent === here}
          onClick={() => dirs.state === "ok" && open(dirs.value.parent)}
        >
          <Icon name="up" />
        </button>
        <input aria-label="Path" value={typed ?? here} spellcheck={false} onInput={(e) => setTyped(e.currentTarget.value)} />
        <button type="submit" disabled={typed === null}>
          Go
        </button>
      </form>
      <div class="dirs">
        {dirs.state === "loading" && <Loading what="folders" />}
        {dirs.state === "failed" && <Failure error={dirs.error} retry={again} />}
        {dirs.state === "ok" && (
          <ul>
            {dirs.value.dirs.map((d) => (
              <li key={d.path}>
                <button type="button" class="quiet" onClick={() => open(d.path)}>
                  <Icon name="folder" class={d.name.startsWith(".") ? "faint" : ""} /> {d.name}
                  {d.git && <span class="tag">git</span>}
                </button>
              </li>
            ))}
            {dirs.value.dirs.length === 0 && <li class="faint none">No folders in here</li>}
            {dirs.value.cut && <li class="faint none">There are more; type the path</li>}
          </ul>
        )}
      </div>
      <fieldset class="level-choice">
        <legend>When Plexus asks you</legend>
        {levels.map((l) => (
          <label key={l.name}>
            <input type="radio" name="level" value={l.name} checked={level === l.name} onChange={() => setLevel(l.name)} />
            <span>
              <strong>{l.name}</strong> {l.doc}
            </span>
          </label>
        ))}
      </fieldset>
      <footer class="dialog-foot">
        <p class="faint">
          The model reads and changes files in <code>{here}</code>, and its commands run there as you.
        </p>
        <button type="button" class="primary" disabled={dirs.state !== "ok" || known !== undefined} onClick={() => void approve()}>
          {known ? "Approved already" : "Approve this folder"}
        </button>
      </footer>
    </Dialog>
  );
}
