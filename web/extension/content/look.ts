import type { PageFacts } from "../../protocol/link";
import type { Notice, Site } from "../sites/site";
import type { EditorText } from "./page";

const maxDraft = 500;
const maxMessages = 50;
const maxText = 100_000;

/** The facts of the page as it is now. Of the draft, what the editor holds counts, and else what is shown. */
export function look(site: Site, draft: EditorText): PageFacts {
  const place = site.place(location.href);
  const shown = draft.error === "" ? draft.text : (site.editor(document)?.textContent ?? "");
  const facts: PageFacts = {
    url: location.href.slice(0, 4096),
    conversationId: place.conversation,
    composer: site.composerState(document),
    draft: shown.slice(0, maxDraft),
    generating: site.stopButton(document) !== null,
    messages: site.messages(document, maxMessages).map((m) => ({ id: m.id, role: m.role, text: m.text.slice(0, maxText) })),
  };
  const notice = site.notices(document)[0];
  if (notice !== undefined) facts.notice = { type: "notice", turn: "", tab: 0, ...notice };
  return facts;
}

/**
 * Tells what the site newly complains of. What was there when the watch began is old news; so is what was told
 * already, until it has gone.
 */
export class NoticeWatch {
  readonly #site: Site;
  readonly #tell: (notice: Notice) => void;
  #known: Set<string>;

  constructor(site: Site, tell: (notice: Notice) => void) {
    this.#site = site;
    this.#tell = tell;
    this.#known = new Set(site.notices(document).map(key));
  }

  look(): void {
    const now = this.#site.notices(document);
    for (const notice of now) {
      if (!this.#known.has(key(notice))) this.#tell(notice);
    }
    this.#known = new Set(now.map(key));
  }
}

function key(notice: Notice): string {
  return `${notice.code} ${notice.text}`;
}
