// The files that this thread changed.

import { useMemo, useState } from "preact/hooks";
import type { ThreadFeed } from "../thread-feed.ts";
import { type ChangedFile, changedFiles } from "../timeline.ts";
import { count } from "../words.ts";
import { ChangeView, DiffCount } from "./diff-view.tsx";
import { Icon } from "./icon.tsx";

export function ChangesPanel({ feed, onClose }: { feed: ThreadFeed; onClose(): void }) {
  const timeline = feed.timeline.value;
  const files = useMemo(() => changedFiles(timeline), [timeline]);
  return (
    <aside class="changes" aria-label="What changed">
      <header>
        <h2>What changed</h2>
        <button type="button" class="quiet icon-only" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      {files.length === 0 && <p class="faint">Files that the model writes show up here, with what changed in them. What a command changes by itself is not listed.</p>}
      {files.map((file) => (
        <File file={file} key={file.path} />
      ))}
      {!timeline.complete && (
        <p class="faint">
          Of the loaded part of the thread.{" "}
          <button type="button" class="small" onClick={() => void feed.loadEarlier()}>
            Load earlier
          </button>
        </p>
      )}
    </aside>
  );
}

function File({ file }: { file: ChangedFile }) {
  const [open, setOpen] = useState(false);
  return (
    <div class="changed-file">
      <button type="button" class="file-head" data-row aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="chevron" class="chevron" />
        <code>{file.path}</code>
        {file.changes.length > 1 && <span class="faint">{count(file.changes.length, "change")}</span>}
        <DiffCount added={file.added} removed={file.removed} />
      </button>
      {open && file.changes.map((c, i) => <ChangeView change={c.change} key={i} />)}
    </div>
  );
}
