// What holds everywhere: where the daemon and the browser are, what waits.

import { answerPairing } from "../api.ts";
import { attempt, showWaiting } from "../commands.ts";
import { theme } from "../prefs.ts";
import { pathOf } from "../route.ts";
import { drawerOpen, helpOpen } from "../shortcuts.ts";
import { link, refreshServer, server, updated, waiting } from "../state.ts";
import { count, elapsed } from "../words.ts";
import { useNow } from "./hooks.ts";
import { Icon } from "./icon.tsx";

export function TopBar() {
  const next = theme.value === "system" ? "light" : theme.value === "light" ? "dark" : "system";
  return (
    <header class="top-bar">
      <button type="button" class="quiet icon-only narrow-only" aria-label="Threads" aria-expanded={drawerOpen.value} onClick={() => (drawerOpen.value = !drawerOpen.value)}>
        <Icon name="menu" />
      </button>
      <a class="brand" href={pathOf({ page: "home" })}>
        <img src="/icon.svg" alt="" width="20" height="20" /> Plexus
      </a>
      <span class="grow" />
      <Waiting />
      <Connection />
      <button
        type="button"
        class="quiet icon-only"
        aria-label={`Theme: ${theme.value}. Change to ${next}`}
        title={`Theme: ${theme.value}`}
        onClick={() => (theme.value = next)}
      >
        {theme.value === "system" ? <span class="auto">A</span> : <Icon name={theme.value === "dark" ? "moon" : "sun"} />}
      </button>
      <button type="button" class="quiet icon-only wide-only" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick={() => (helpOpen.value = true)}>
        <span class="auto">?</span>
      </button>
    </header>
  );
}

function Waiting() {
  const n = waiting.value.length;
  return (
    <span role="status" aria-live="polite">
      {n > 0 && (
        <button type="button" class="chip warn" onClick={showWaiting} title="Go to the approval that waits (w)">
          <Icon name="shield" /> {n}
          <span class="wide-only">{n === 1 ? "approval waits" : "approvals wait"}</span>
          <span class="sr">{count(n, "approval")} waiting</span>
        </button>
      )}
    </span>
  );
}

function Connection() {
  const state = link.value;
  const now = useNow(1000, state.state === "lost");
  if (state.state === "lost") {
    return (
      <span class="chip bad" role="status">
        <span class="dot bad" /> Plexus does not answer
        <span class="wide-only">(next try in {elapsed(Math.max(0, state.retryAt - now))})</span>
      </span>
    );
  }
  if (state.state === "connecting" || !server.value) {
    return (
      <span class="chip" role="status">
        <span class="spinner" aria-hidden="true" /> Connecting
      </span>
    );
  }
  const here = server.value.browsers.filter((b) => b.connected);
  const first = here[0];
  return (
    <a class="chip" href={pathOf({ page: "connections" })} title="Connections">
      <span class={`dot ${first ? "good" : "off"}`} />
      <span class="wide-only">{first ? (here.length > 1 ? count(here.length, "browser") : first.label) : "No browser"}</span>
      <span class="sr">{first ? "browser connected" : "no browser connected"}</span>
    </a>
  );
}

/** What needs a person before anything else: a browser that asks to be let in, a page that is too old. */
export function Banners() {
  return (
    <div class="banners" aria-live="polite">
      {updated.value && (
        <div class="banner">
          <Icon name="info" />
          <p>Plexus was updated. This page is of the earlier version.</p>
          <button type="button" class="small primary" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      )}
      {(server.value?.pairings ?? []).map((p) => (
        <div class="banner" role="alert" key={p.code}>
          <Icon name="plug" />
          <p>
            <strong>{p.label}</strong> wants to connect. Approve it only if the extension there shows the code <code class="pair-code">{p.code}</code>
          </p>
          <div class="buttons">
            <button type="button" class="small primary" onClick={() => void answer(p.code, true)}>
              Approve
            </button>
            <button type="button" class="small" onClick={() => void answer(p.code, false)}>
              Refuse
            </button>
          </div>
        </div>
      ))}
    </div>
  );
}

async function answer(code: string, approve: boolean): Promise<void> {
  await attempt(() => answerPairing(code, approve));
  await refreshServer();
}
