import type { Place } from "../site";

export const origin = "https://chatgpt.com";

const chat = /^(?:\/g\/(g-p-[0-9a-f]{32})[^/]*)?\/c\/([^/]+)\/?$/;
const project = /^\/g\/(g-p-[0-9a-f]{32})[^/]*\/project\/?$/;
const nowhere: Place = { conversation: "", project: "", passing: false };

export function place(url: string): Place {
  if (!URL.canParse(url)) return nowhere;
  const { origin: from, pathname } = new URL(url);
  if (from !== origin) return nowhere;
  const inChat = chat.exec(pathname);
  if (inChat) {
    const id = decodeURIComponent(inChat[2] ?? "");
    // A colon marks an id that the site uses until it has made the real one.
    const passing = id.includes(":");
    return { conversation: passing ? "" : id, project: inChat[1] ?? "", passing };
  }
  return { conversation: "", project: project.exec(pathname)?.[1] ?? "", passing: false };
}

/** Two addresses of the same chat are the same place, whatever stands before the chat's id. Other pages compare by path. */
export function samePlace(have: string, want: string): boolean {
  if (!URL.canParse(have) || !URL.canParse(want)) return false;
  const a = new URL(have);
  const b = new URL(want);
  if (a.origin !== origin || b.origin !== origin) return false;
  const there = place(want);
  const here = place(have);
  if (there.conversation !== "" || here.conversation !== "" || here.passing) return here.conversation === there.conversation && !here.passing;
  if (there.project !== "" || here.project !== "") return there.project === here.project;
  return a.pathname === b.pathname && a.search === b.search;
}
