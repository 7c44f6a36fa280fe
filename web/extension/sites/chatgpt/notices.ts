import type { Notice } from "../site";

/** Where the site speaks for itself and not for a chat. */
const places = "[role='alert'], [aria-live='assertive'], [role='dialog'][data-state='open'], [role='alertdialog']";
/** What stands in for an answer that failed has no role; it is known by its button. */
const retryWords = /^(retry|try again|regenerate)$/i;

interface Pattern {
  code: Notice["code"];
  words: RegExp;
}

/** In the order of their weight: the first that fits names the notice. */
const patterns: Pattern[] = [
  { code: "too-long", words: /message you submitted was too long|submit something shorter|message_length_exceeds_limit/i },
  { code: "rate-limited", words: /too many requests|requests too quickly|reached (your|the) .{0,40}limit|hit (your|the) .{0,40}limit|usage limit/i },
  { code: "signed-out", words: /session (has )?expired|log in (again )?to continue|you('ve| have) been (signed|logged) out/i },
  { code: "verification", words: /verify you are human|unusual activity has been detected|suspicious activity/i },
  { code: "chat-gone", words: /content is unavailable|unable to load conversation|conversation (was )?not found/i },
  { code: "thinking-failed", words: /^thinking failed/i },
  { code: "network", words: /network error|connection (was )?(lost|interrupted)|check your (internet|network)? ?connection/i },
  { code: "site-error", words: /something went wrong|error generating a response|message delivery timed out|an error occurred|hmm\.\.\.something seems/i },
];

function named(text: string): Notice | null {
  const plain = text.replace(/\s+/g, " ").trim().slice(0, 2000);
  const pattern = patterns.find((p) => p.words.test(plain));
  if (pattern === undefined) return null;
  const notice: Notice = { code: pattern.code, text: plain.slice(0, 500) };
  const until = pattern.code === "rate-limited" ? resetTime(plain, new Date()) : null;
  if (until !== null) notice.until = until.toISOString();
  return notice;
}

/** The time at which a limit ends, if the text names one: "in 12 minutes", "after 3:40 PM". */
export function resetTime(text: string, now: Date): Date | null {
  const span = /\b(?:in|after|for) (?:about )?(\d+) (second|minute|hour)s?\b/i.exec(text);
  if (span) {
    const unit = { second: 1, minute: 60, hour: 3600 }[(span[2] ?? "").toLowerCase()] ?? 0;
    return new Date(now.getTime() + Number(span[1]) * unit * 1000);
  }
  const clock = /\b(?:after|at|until) (\d{1,2}):(\d{2})(?:\s*([AP])M)?\b/i.exec(text);
  if (!clock) return null;
  let hour = Number(clock[1]);
  const half = clock[3]?.toUpperCase();
  if (half === "P" && hour < 12) hour += 12;
  if (half === "A" && hour === 12) hour = 0;
  if (hour > 23) return null;
  const at = new Date(now);
  at.setHours(hour, Number(clock[2]), 0, 0);
  if (at <= now) at.setDate(at.getDate() + 1);
  return at;
}

/** What the page as a whole is, when it is not the app. */
function pageNotice(doc: Document): Notice | null {
  if (doc.querySelector("#challenge-form, iframe[src*='challenges.cloudflare.com']") !== null || /^just a moment/i.test(doc.title)) {
    return { code: "verification", text: "The site asks for proof that a human is there." };
  }
  const login = doc.querySelector("[data-testid='login-button'], a[href*='/auth/login']");
  const account = doc.querySelector("[data-testid='accounts-profile-button'], [data-testid='profile-button'], [data-testid='user-menu-button']");
  if (login !== null && account === null) return { code: "signed-out", text: "The site asks to log in." };
  return null;
}

/** The text of the card in the newest turn that offers to try again. */
function failedTurn(doc: Document): string | null {
  const turns = doc.querySelectorAll("[data-testid^='conversation-turn-'], [data-turn]");
  const last = turns.item(turns.length - 1);
  for (const button of last?.querySelectorAll("button") ?? []) {
    if (retryWords.test((button.textContent ?? "").trim()) && button.closest(".markdown") === null) return button.parentElement?.textContent ?? "";
  }
  return null;
}

/** Dialogs in which the site told something that has a name, by the button that has been read. */
export function dismissals(doc: Document): HTMLElement[] {
  const open = doc.querySelectorAll<HTMLElement>("[role='dialog'][data-state='open'], [role='alertdialog']");
  return [...open].flatMap((dialog) => {
    const buttons = [...dialog.querySelectorAll<HTMLElement>("button")].filter((b) => (b.textContent ?? "").trim() !== "");
    // With a choice to make it is the person's.
    return named(dialog.textContent ?? "") !== null && buttons.length === 1 ? buttons : [];
  });
}

export function notices(doc: Document): Notice[] {
  const found: Notice[] = [];
  const whole = pageNotice(doc);
  if (whole !== null) found.push(whole);
  const texts = [...doc.querySelectorAll(places)].filter((n) => n.closest("[data-message-author-role]") === null).map((n) => n.textContent ?? "");
  // A chat that cannot be loaded says so in the place of the transcript, where there is no composer then.
  if (doc.querySelector("#prompt-textarea") === null) texts.push(doc.querySelector("main")?.textContent?.slice(0, 300) ?? "");
  const failed = failedTurn(doc);
  if (failed !== null) texts.push(failed);
  for (const text of texts) {
    const notice = named(text);
    if (notice !== null && !found.some((f) => f.code === notice.code && f.text === notice.text)) found.push(notice);
  }
  const weight = (n: Notice): number => patterns.findIndex((p) => p.code === n.code);
  return found.sort((a, b) => weight(a) - weight(b));
}
