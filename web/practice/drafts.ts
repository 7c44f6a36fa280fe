/** Unsent text by chat, kept over reloads where the real site keeps it. */
const key = "oai/apps/conversationDrafts";

type Drafts = Record<string, string>;

function read(): Drafts {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    return typeof all === "object" && all !== null ? (all as Drafts) : {};
  } catch {
    return {};
  }
}

export function readDraft(chat: string): string {
  const draft = read()[chat];
  return typeof draft === "string" ? draft : "";
}

export function writeDraft(chat: string, text: string): void {
  const all = read();
  if (text === "") {
    delete all[chat];
  } else {
    all[chat] = text;
  }
  localStorage.setItem(key, JSON.stringify(all));
}
