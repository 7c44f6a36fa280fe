import type { MouseEvent, ReactNode } from "react";
import { useChat, usePage } from "./App";
import { Icon } from "./Icon";
import { ProjectDialog } from "./ProjectDialog";
import { routePath, type Route } from "./route";

export function Sidebar() {
  const { projects, chats, route } = useChat();
  return (
    <nav className="sidebar" aria-label="Chat history">
      <div className="sidebar-top">
        <NavLink to={{ kind: "new" }} testId="create-new-chat-button">
          <Icon name="pen" /> New chat
        </NavLink>
      </div>
      <h2>Projects</h2>
      <ProjectDialog />
      {projects.map((p) => (
        <NavLink key={p.id} to={{ kind: "project", project: p.short_url }} testId="project-link" current={route.kind === "project" && route.project === p.short_url}>
          {p.display.name}
        </NavLink>
      ))}
      <h2>Chats</h2>
      {chats.map((c) => (
        <NavLink key={c.id} to={{ kind: "chat", id: c.id, project: null }} testId="history-item" current={route.kind === "chat" && route.id === c.id}>
          {c.title}
        </NavLink>
      ))}
      <button type="button" className="profile" data-testid="accounts-profile-button">
        Practice
      </button>
    </nav>
  );
}

function NavLink(props: { to: Route; testId: string; current?: boolean; children: ReactNode }) {
  const { chat } = usePage();
  const go = (event: MouseEvent): void => {
    event.preventDefault();
    chat.go(props.to);
  };
  return (
    <a href={routePath(props.to)} data-testid={props.testId} aria-current={props.current ? "page" : undefined} onClick={go}>
      {props.children}
    </a>
  );
}
