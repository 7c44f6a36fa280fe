import { chatgpt } from "./chatgpt/site";
import type { Site } from "./site";

const all: readonly Site[] = [chatgpt];

/** The site that an address belongs to, null when it is none that we know. */
export function siteOf(url: string): Site | null {
  if (!URL.canParse(url)) return null;
  const { origin } = new URL(url);
  return all.find((s) => s.origin === origin) ?? null;
}
