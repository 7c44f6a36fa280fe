// Folders with their threads.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api.ts";
import * as commands from "../commands.ts";
import { foldedFolders, toggleFolder } from "../prefs.ts";
import { pathOf, type Route, route } from "../route.ts";
import { drawerOpen } from "../shortcuts.ts";
import { folders, refreshThreads, shownList, threads, threadsLoaded } from "../state.ts";
import type { Folder, Thread } from "../../protocol/api.ts";
import { ago, threadState } from "../words.ts";
import { takeFocus, useLoad, useNow, useSettled } from "./hooks.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Menu, type MenuItem } from "./menu.tsx";
import { threadItems } from "./thread-head.tsx";

export function Sidebar() {
  const [query, setQuery] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const which = shownList.value;
  const opened = drawerOpen.value;
  useEffect(() => {
    if (opened) list.current?.closest("nav")?.querySelector("a")?.focus();
  }, [opened]);
  return (
    <nav class="sidebar" aria-label="Threads" onKeyDown={(e) => rove(e, list.current)}>
      <div class="sidebar-top">
        <a class="button primary" href={pathOf({ page: "new", folder: "" })} onClick={closeDrawer}>
          <Icon name="plus" /> New thread
        </a>
        <label class="search">
          <Icon name="search" />
          <input id="search" type="search" placeholder="Search" aria-label="Search threads" value={query} onInput={(e) => setQuery(e.currentTarget.value)} />
        </label>
      </div>
      <div class="thread-list" ref={list}>
        {query.trim() !== "" ? <Found query={query.trim()} /> : <ByFolder />}
      </div>
      <div class="list-choice" role="group" aria-label="Which threads">
        {(["active", "archived", "deleted"] as const).map((w) => (
          <button
            type="button"
            class={`small ${which === w ? "pressed" : "quiet"}`}
            aria-pressed={which === w}
            key={w}
            onClick={() => {
              shownList.value = w;
              void refreshThreads();
            }}
          >
            {w === "active" ? "Active" : w === "archived" ? "Archive" : "Bin"}
          </button>
        ))}
      </div>
      <Pages />
    </nav>
  );
}

const closeDrawer = () => (drawerOpen.value = false);

const pages: readonly { to: Route; label: string; icon: IconName }[] = [
  { to: { page: "folders" }, label: "Folders and rules", icon: "folder" },
  { to: { page: "connections" }, label: "Connections", icon: "plug" },
  { to: { page: "settings" }, label: "Settings", icon: "gear" },
  { to: { page: "doctor" }, label: "Doctor", icon: "pulse" },
  { to: { page: "parse" }, label: "Parse a reply", icon: "code" },
];

function Pages() {
  return (
    <ul class="pages">
      {pages.map((p) => (
        <li key={p.label}>
          <a href={pathOf(p.to)} aria-current={route.value.page === p.to.page ? "page" : undefined} onClick={closeDrawer}>
            <Icon name={p.icon} /> {p.label}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Pinned first, then the newest. */
function byAge(x: Thread, y: Thread): number {
  return Number(y.pinned ?? false) - Number(x.pinned ?? false) || (x.updated < y.updated ? 1 : -1);
}

function shows(thread: Thread): boolean {
  switch (shownList.value) {
    case "active":
      return !thread.archived && !thread.deleted;
    case "archived":
      return thread.archived === true && !thread.deleted;
    case "deleted":
      return thread.deleted === true;
  }
}

function ByFolder() {
  const now = useNow(30_000);
  const all = [...threads.value.values()].filter(shows).sort(byAge);
  const known = new Set(folders.value.map((f) => f.id));
  const lost = all.filter((t) => !known.has(t.folder));
  if (!threadsLoaded.value) return <p class="faint pad">Loading threads</p>;
  if (folders.value.length === 0 && all.length === 0) return <p class="faint pad">No folders yet. Approve one to begin.</p>;
  const newest = (folder: Folder) => all.find((t) => t.folder === folder.id)?.updated ?? folder.created;
  const ordered = [...folders.value].sort((x, y) => (newest(x) < newest(y) ? 1 : -1));
  return (
    <>
      {ordered.map((folder) => (
        <FolderGroup folder={folder} threads={all.filter((t) => t.folder === folder.id)} now={now} key={folder.id} />
      ))}
      {lost.length > 0 && (
        <section>
          <h2 class="folder-name">Removed folders</h2>
          <ul>
            {lost.map((t) => (
              <Row thread={t} now={now} key={t.id} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function FolderGroup({ folder, threads, now }: { folder: Folder; threads: readonly Thread[]; now: number }) {
  const folded = foldedFolders.value.has(folder.id);
  return (
    <section aria-label={folder.name}>
      <div class="folder-head">
        <h2 class="folder-name">
          <button type="button" class="quiet" aria-expanded={!folded} title={folder.path} data-rove onClick={() => toggleFolder(folder.id)}>
            <Icon name="chevron" class="chevron" />
            {folder.name}
          </button>
        </h2>
        <a class="button quiet icon-only" href={pathOf({ page: "new", folder: folder.id })} aria-label={`New thread in ${folder.name}`} title="New thread here" onClick={closeDrawer}>
          <Icon name="plus" />
        </a>
      </div>
      {!folded && (
        <ul>
          {threads.map((t) => (
            <Row thread={t} now={now} key={t.id} />
          ))}
          {threads.length === 0 && <li class="faint none">No threads</li>}
        </ul>
      )}
    </section>
  );
}

function Row({ thread, now }: { thread: Thread; now: number }) {
  const [title, setTitle] = useState<string | null>(null);
  const open = route.value.page === "thread" && route.value.id === thread.id;
  const unread = thread.lastSeq > thread.readSeq && !open;
  const state = threadState(thread.state);
  if (title !== null) {
    const save = () => {
      if (title.trim() !== "" && title !== thread.title) void commands.rename(thread, title.trim());
      setTitle(null);
    };
    return (
      <li>
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
      </li>
    );
  }
  return (
    <li class={`row ${unread ? "unread" : ""}`}>
      <a href={pathOf({ page: "thread", id: thread.id })} aria-current={open ? "page" : undefined} data-rove onClick={closeDrawer}>
        <Mark thread={thread} unread={unread} />
        <span class="row-title">{commands.titleOf(thread)}</span>
        {state && <span class="sr">, {state}</span>}
        {thread.queued > 0 && <span class="badge" title={`${thread.queued} in the queue`}>{thread.queued}</span>}
        <time dateTime={thread.updated}>{ago(thread.updated, now)}</time>
      </a>
      <Menu label={`Options for ${commands.titleOf(thread)}`} items={thread.deleted ? binItems(thread) : threadItems(thread, () => setTitle(thread.title))} />
    </li>
  );
}

function binItems(thread: Thread): MenuItem[] {
  return [{ label: "Take back", icon: "up", run: () => void commands.takeBack(thread) }];
}

function Mark({ thread, unread }: { thread: Thread; unread: boolean }) {
  if (thread.state === "waiting") return <span class="dot warn" title="Waits for approval" />;
  if (threadState(thread.state) === "working") return <span class="spinner" aria-hidden="true" />;
  if (unread)
    return (
      <span class="dot accent" title="Unread">
        <span class="sr">unread </span>
      </span>
    );
  return thread.pinned ? <Icon name="pin" class="faint" /> : <span class="dot off" />;
}

/** Titles at once, and what was said and run from the daemon's index a moment later. */
function Found({ query }: { query: string }) {
  const settled = useSettled(query, 200);
  const [hits] = useLoad((signal) => api.search(settled, signal), [settled]);
  const now = useNow(30_000);
  const low = query.toLowerCase();
  const titles = [...threads.value.values()].filter((t) => commands.titleOf(t).toLowerCase().includes(low)).sort(byAge);
  const found = hits.state === "ok" ? hits.value : [];
  return (
    <>
      {titles.length > 0 && (
        <section aria-label="Titles">
          <h2 class="folder-name">Titles</h2>
          <ul>
            {titles.slice(0, 20).map((t) => (
              <Row thread={t} now={now} key={t.id} />
            ))}
          </ul>
        </section>
      )}
      <section aria-label="In threads">
        <h2 class="folder-name">In threads</h2>
        <ul aria-live="polite">
          {found.map((hit) => (
            <li class="row" key={`${hit.thread}:${hit.seq}`}>
              <a href={pathOf({ page: "thread", id: hit.thread, turn: hit.turn })} data-rove class="hit" onClick={closeDrawer}>
                <span class="row-title">{hit.title || "New thread"}</span>
                <span class="snippet">{hit.snippet}</span>
              </a>
            </li>
          ))}
          {hits.state === "ok" && found.length === 0 && <li class="faint none">Nothing found</li>}
          {hits.state === "loading" && <li class="faint none">Searching</li>}
          {hits.state === "failed" && <li class="faint none">The search did not work</li>}
        </ul>
      </section>
    </>
  );
}

/** Up and Down move among the rows. */
function rove(event: KeyboardEvent, list: HTMLElement | null): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  if (event.target instanceof HTMLElement && event.target.closest("[role=menu]")) return;
  const rows = [...(list?.querySelectorAll<HTMLElement>("[data-rove]") ?? [])];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = rows[event.key === "ArrowDown" ? at + 1 : Math.max(0, at - 1)];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
