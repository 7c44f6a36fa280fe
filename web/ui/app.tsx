// The frame: top bar, threads at the left, a page.

import { ConnectionsPage } from "./page/connections-page.tsx";
import { DoctorPage } from "./page/doctor-page.tsx";
import { FoldersPage } from "./page/folders-page.tsx";
import { HomePage } from "./page/home-page.tsx";
import { NewPage } from "./page/new-page.tsx";
import { ParsePage } from "./page/parse-page.tsx";
import { SettingsPage } from "./page/settings-page.tsx";
import { ThreadPage } from "./page/thread-page.tsx";
import { titleOf } from "./commands.ts";
import { Boundary } from "./part/boundary.tsx";
import { Loading } from "./part/failure.tsx";
import { ShortcutsDialog } from "./part/shortcuts-dialog.tsx";
import { Sidebar } from "./part/sidebar.tsx";
import { Toasts } from "./part/toasts.tsx";
import { Banners, TopBar } from "./part/top-bar.tsx";
import { pathOf, route } from "./route.ts";
import { drawerOpen } from "./shortcuts.ts";
import { access, feed, threads, waiting } from "./state.ts";

export function App() {
  if (!access.value.ok) return <Locked text={access.value.text} />;
  document.title = pageTitle();
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <div class={`app ${drawerOpen.value ? "drawer-open" : ""}`}>
        <TopBar />
        <Sidebar />
        <div class="scrim" onClick={() => (drawerOpen.value = false)} />
        <main>
          <Banners />
          <Boundary key={pathOf(route.value)}>
            <Page />
          </Boundary>
        </main>
      </div>
      <ShortcutsDialog />
      <Toasts />
    </>
  );
}

function Page() {
  const at = route.value;
  if (at.page === "thread") return feed.value ? <ThreadPage feed={feed.value} key={at.id} /> : <Loading what="the thread" />;
  return (
    <div class="scroll" id="main" tabIndex={-1}>
      <OtherPage />
    </div>
  );
}

function OtherPage() {
  const at = route.value;
  switch (at.page) {
    case "new":
      return <NewPage folder={at.folder} key={at.folder} />;
    case "settings":
      return <SettingsPage />;
    case "folders":
      return <FoldersPage />;
    case "connections":
      return <ConnectionsPage />;
    case "doctor":
      return <DoctorPage />;
    case "parse":
      return <ParsePage />;
    default:
      return <HomePage />;
  }
}

/** The address behind "#" is the route, so the skip link moves the focus itself. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function pageTitle(): string {
  const at = route.value;
  const thread = at.page === "thread" ? threads.value.get(at.id) : undefined;
  const mark = waiting.value.length > 0 ? `(${waiting.value.length}) ` : "";
  return `${mark}${thread ? `${titleOf(thread)} · ` : ""}Plexus`;
}

function Locked({ text }: { text: string }) {
  return (
    <main class="locked">
      <img src="/icon.svg" alt="" width="48" height="48" />
      <h1>Plexus</h1>
      {text && <p>{text}</p>}
      <p>To open this page, run this in a terminal on this machine:</p>
      <pre>plexus open</pre>
      <p class="faint">It opens the page with a key that works once. The key keeps other programs and other people out.</p>
    </main>
  );
}
