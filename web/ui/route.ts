// Where the page is: in the address behind "#", so that back, reload and links work.

import { signal } from "@preact/signals";

export type Route =
  | { page: "home" }
  | { page: "thread"; id: string; turn?: string }
  | { page: "new"; folder: string }
  | { page: "settings" }
  | { page: "folders" }
  | { page: "connections" }
  | { page: "doctor" }
  | { page: "parse" };

export function readRoute(hash: string): Route {
  const path = hash.startsWith("#") ? hash.slice(1) : hash;
  const [head = "", arg = "", more = ""] = path.split("/").filter((p) => p !== "");
  switch (head) {
    case "t":
      if (!arg) return { page: "home" };
      return more ? { page: "thread", id: decode(arg), turn: decode(more) } : { page: "thread", id: decode(arg) };
    case "new":
      return { page: "new", folder: decode(arg) };
    case "settings":
    case "folders":
    case "connections":
    case "doctor":
    case "parse":
      return { page: head };
    default:
      return { page: "home" };
  }
}

export function pathOf(route: Route): string {
  switch (route.page) {
    case "home":
      return "#/";
    case "thread":
      return `#/t/${encodeURIComponent(route.id)}${route.turn ? "/" + encodeURIComponent(route.turn) : ""}`;
    case "new":
      return route.folder ? `#/new/${encodeURIComponent(route.folder)}` : "#/new";
    default:
      return `#/${route.page}`;
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

export const route = signal<Route>({ page: "home" });

export function go(to: Route): void {
  location.hash = pathOf(to);
}

/** Keeps `route` in step with the address until the signal. */
export function watchRoute(signal: AbortSignal): void {
  const read = () => (route.value = readRoute(location.hash));
  addEventListener("hashchange", read, { signal });
  read();
}
