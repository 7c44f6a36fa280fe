/** Where in the app a page is. A project reference is its id, with or without its name. */
export type Route =
  | { kind: "new" }
  | { kind: "project"; project: string }
  | { kind: "chat"; id: string; project: string | null };

export function parseRoute(path: string): Route {
  const chat = /^(?:\/g\/([^/]+))?\/c\/([^/]+)$/.exec(path);
  if (chat?.[2]) {
    return { kind: "chat", id: decodeURIComponent(chat[2]), project: chat[1] ?? null };
  }
  const project = /^\/g\/([^/]+)\/project$/.exec(path);
  if (project?.[1]) {
    return { kind: "project", project: project[1] };
  }
  return { kind: "new" };
}

export function routePath(route: Route): string {
  switch (route.kind) {
    case "new":
      return "/";
    case "project":
      return `/g/${route.project}/project`;
    case "chat":
      return `${route.project === null ? "" : `/g/${route.project}`}/c/${route.id}`;
  }
}

/** The id in a reference to a project. */
export function projectId(ref: string): string {
  return /^g-p-[0-9a-f]{32}/.exec(ref)?.[0] ?? ref;
}
