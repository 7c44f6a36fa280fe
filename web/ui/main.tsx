// The entry: takes the key from the address, then shows the app.

import { render } from "preact";
import { whenUnauthorized } from "./api.ts";
import { App } from "./app.tsx";
import { applyTheme } from "./prefs.ts";
import { watchRoute } from "./route.ts";
import { exchange, forget, token } from "./session.ts";
import { watchKeys } from "./shortcuts.ts";
import { access, watchOpenThread, watchServer } from "./state.ts";

const life = new AbortController();

whenUnauthorized(() => {
  forget();
  access.value = { ok: false, text: "The key of this page is not valid any more." };
  life.abort();
});

// A link that is opened in this tab later carries its key behind "#", which loads nothing by itself.
addEventListener("hashchange", () => location.hash.startsWith("#key=") && location.reload());

async function start(): Promise<void> {
  applyTheme();
  const exchanged = await exchange();
  if (token() === "") access.value = { ok: false, text: exchanged.result === "refused" ? exchanged.text : "" };
  watchRoute(life.signal);
  watchKeys(life.signal);
  const root = document.getElementById("app");
  if (root) render(<App />, root);
  if (token() === "") return;
  watchServer(life.signal);
  watchOpenThread(life.signal);
}

void start();
