import { createContext, useContext, useSyncExternalStore } from "react";
import type { Boot } from "./boot";
import type { Chat, State } from "./chat";
import { Composer } from "./Composer";
import type { PageFaults } from "./faults";
import { ModelPicker } from "./ModelPicker";
import { RateLimitDialog } from "./Notices";
import { Sidebar } from "./Sidebar";
import { Transcript } from "./Transcript";

/** What every part of the page may use. */
interface Page {
  boot: Boot;
  chat: Chat;
  faults: PageFaults;
}

const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === null) throw new Error("outside of the app");
  return page;
}

export function useChat(): State {
  const { chat } = usePage();
  return useSyncExternalStore(chat.subscribe, chat.state);
}

export function App(page: Page) {
  return (
    <PageContext.Provider value={page}>
      <Layout />
    </PageContext.Provider>
  );
}

function Layout() {
  const { boot } = usePage();
  const state = useChat();
  if (!state.signedIn) return <SignedOut />;
  return (
    <div className="app">
      <Sidebar />
      <main className={state.rows.length === 0 ? "main empty" : "main"}>
        <header id="page-header">
          {boot.picker === "header" ? <ModelPicker /> : <span className="brand">ChatGPT</span>}
          <span className="badge" title="A stand-in for the real site, served by Plexus on this machine">
            Practice site
          </span>
        </header>
        {state.missing ? <Missing /> : <Conversation />}
      </main>
      <RateLimitDialog />
    </div>
  );
}

function Conversation() {
  const state = useChat();
  return (
    <>
      {state.rows.length === 0 ? <Welcome /> : <Transcript />}
      <div className="dock">
        {state.notice !== null && (
          <div role="alert" className="alert">
            {state.notice}
          </div>
        )}
        <Composer key={state.editor} />
        <p className="small-print">A scripted mind answers here. Nothing leaves this machine.</p>
      </div>
    </>
  );
}

function Welcome() {
  const { chat } = usePage();
  const { route, projects, projectChats } = useChat();
  if (route.kind !== "project") return <h1 className="welcome">What shall we practise?</h1>;
  const name = projects.find((p) => route.project.startsWith(p.id))?.display.name ?? "Project";
  return (
    <section className="project">
      <h1>{name}</h1>
      {projectChats.map((c) => (
        <a
          key={c.id}
          href={`/g/${route.project}/c/${c.id}`}
          onClick={(event) => {
            event.preventDefault();
            chat.go({ kind: "chat", id: c.id, project: route.project });
          }}
        >
          {c.title}
        </a>
      ))}
    </section>
  );
}

function Missing() {
  return (
    <section className="missing">
      <h1>This content is unavailable</h1>
      <p>The conversation could not be loaded.</p>
    </section>
  );
}

function SignedOut() {
  return (
    <main className="missing">
      <h1>Welcome back</h1>
      <a data-testid="login-button" href="/auth/login">
        Log in
      </a>
    </main>
  );
}
