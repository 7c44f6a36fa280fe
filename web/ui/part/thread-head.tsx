import { useState } from "preact/hooks";
import * as commands from "../commands.ts";
import { folderOf, server } from "../state.ts";
import type { Thread } from "../../protocol/api.ts";
import { takeFocus } from "./hooks.ts";
import { Icon } from "./icon.tsx";
import { Menu, type MenuItem } from "./menu.tsx";

interface Props {
  thread: Thread;
  changes: { files: number; added: number; removed: number };
  showChanges: boolean;
  toggleChanges(): void;
}

export function ThreadHead({ thread, changes, showChanges, toggleChanges }: Props) {
  const [title, setTitle] = useState<string | null>(null);
  const folder = folderOf(thread.folder);
  const save = () => {
    if (title !== null && title.trim() !== "" && title !== thread.title) void commands.rename(thread, title.trim());
    setTitle(null);
  };
  return (
    <header class="thread-head">
      {title === null ? (
        <h1 title={thread.title} onDblClick={() => setTitle(thread.title)}>
          {commands.titleOf(thread)}
        </h1>
      ) : (
        <input
          class="title-edit"
          aria-label="Title"
          value={title}
          ref={takeFocus}
          onInput={(e) => setTitle(e.currentTarget.value)}
          onBlur={save}
          onKeyDown={(e) => {
            if (e.key === "Enter") save();
            if (e.key === "Escape") setTitle(null);
          }}
        />
      )}
      <span class="faint where" title={folder?.path}>
        <Icon name="folder" /> {folder?.name ?? "removed folder"}
      </span>
      <Menu label={`Level: ${thread.level || folder?.level || ""}`} class="quiet small" items={levelItems(thread, folder?.level ?? "")}>
        <Icon name="shield" /> <span class="wide-only">{thread.level || folder?.level}</span>
      </Menu>
      <Menu label={`Model: ${modelLabel(thread.model)}`} class="quiet small" items={modelItems(thread)}>
        <Icon name="globe" /> <span class="wide-only">{modelLabel(thread.model)}</span>
      </Menu>
      <button type="button" class={`small ${showChanges ? "pressed" : "quiet"}`} aria-pressed={showChanges} onClick={toggleChanges} title="What changed (d)">
        <Icon name="diff" />
        <span class="wide-only">Changes</span>
        {changes.files > 0 && <span class="badge">{changes.files}</span>}
      </button>
      <Menu label="Options for this thread" items={threadItems(thread, () => setTitle(thread.title))} />
    </header>
  );
}

export function threadItems(thread: Thread, rename: () => void): MenuItem[] {
  return [
    { label: "Rename", icon: "edit", run: rename },
    { label: thread.pinned ? "Unpin" : "Pin", icon: "pin", run: () => void commands.pin(thread, !thread.pinned) },
    { label: thread.archived ? "Take out of the archive" : "Archive", icon: "archive", run: () => void commands.archive(thread, !thread.archived) },
    { label: "Delete", icon: "trash", danger: true, run: () => void commands.remove(thread) },
  ];
}

export const levels = [
  { name: "manual", doc: "asks before every command and every write" },
  { name: "auto-review", doc: "asks when an action is dangerous" },
  { name: "full", doc: "never asks" },
] as const;

/** A thread may only be stricter than its folder. */
function levelItems(thread: Thread, folderLevel: string): MenuItem[] {
  const limit = levels.findIndex((l) => l.name === folderLevel);
  const now = thread.level || folderLevel;
  return levels.slice(0, limit < 0 ? levels.length : limit + 1).map((l) => ({
    label: `${l.name}: ${l.doc}`,
    checked: now === l.name,
    run: () => void commands.setThreadLevel(thread, l.name === folderLevel ? "" : l.name),
  }));
}

function modelItems(thread: Thread): MenuItem[] {
  const models = server.value?.models ?? [];
  const now = thread.model || server.value?.defaultModel;
  return models.map((m) => ({
    label: m.ready ? m.label : `${m.label} (${m.why || "not ready"})`,
    checked: now === m.name,
    run: () => void commands.setThreadModel(thread, m.name),
  }));
}

export function modelLabel(model: string): string {
  const name = model || server.value?.defaultModel || "";
  return server.value?.models.find((m) => m.name === name)?.label ?? (name.startsWith("scripted:") ? "script" : name);
}
