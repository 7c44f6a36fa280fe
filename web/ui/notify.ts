// Desktop notifications, when the user wants them and does not look.

import { notify } from "./prefs.ts";
import { pathOf } from "./route.ts";

/** Says it on the desktop if the page is hidden. A later one of the same thread replaces it. */
export function notice(thread: string, title: string, text: string): void {
  if (!notify.value || !document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
  const note = new Notification(title, { body: text, tag: thread });
  note.addEventListener(
    "click",
    () => {
      window.focus();
      location.hash = pathOf(thread === "" ? { page: "home" } : { page: "thread", id: thread });
      note.close();
    },
    { once: true },
  );
}

/** Asks the browser; resolves to whether it agreed. */
export async function askPermission(): Promise<boolean> {
  if (!("Notification" in window)) return false;
  return (await Notification.requestPermission()) === "granted";
}
