// What Plexus is joined to: browsers through the extension, and models.

import { useState } from "preact/hooks";
import * as api from "../api.ts";
import { attempt } from "../commands.ts";
import { ConsentDialog } from "../part/consent-dialog.tsx";
import { CopyButton } from "../part/copy-button.tsx";
import { Loading } from "../part/failure.tsx";
import { useNow } from "../part/hooks.ts";
import { Icon } from "../part/icon.tsx";
import { pathOf } from "../route.ts";
import { refreshServer, server } from "../state.ts";
import { ago } from "../words.ts";
import { WordsWithCode } from "../part/words-with-code.tsx";

export function ConnectionsPage() {
  const s = server.value;
  if (!s) return <Loading what="connections" />;
  return (
    <div class="page">
      <h1>Connections</h1>
      <section class="panel" aria-label="Models">
        <h2>Models</h2>
        <ul class="connections">
          {s.models.map((m) => (
            <Model model={m} isDefault={m.name === s.defaultModel} consent={s.consent} key={m.name} />
          ))}
        </ul>
      </section>
      <section class="panel" aria-label="Browsers">
        <h2>Browsers</h2>
        {s.browsers.length === 0 ? <NoBrowser waiting={s.pairings.length > 0} /> : <Browsers browsers={s.browsers} />}
      </section>
      <p class="faint">Plexus {s.version}</p>
    </div>
  );
}

function Model({ model, isDefault, consent }: { model: api.ModelInfo; isDefault: boolean; consent: boolean }) {
  const [asking, setAsking] = useState(false);
  return (
    <li>
      <span class={`dot ${model.ready ? "good" : "off"}`} />
      <div>
        <p>
          <strong>{model.label}</strong> {isDefault && <span class="tag">default</span>}
          <span class="sr">{model.ready ? "ready" : "not ready"}</span>
        </p>
        <p class="faint"><WordsWithCode text={model.ready ? "Ready." : model.why || "Not ready."} /></p>
      </div>
      {model.name === "chat" && !consent && (
        <button type="button" class="small" onClick={() => setAsking(true)}>
          Allow driving a chat site
        </button>
      )}
      {model.name === "api" && (
        <a class="button small" href={pathOf({ page: "settings" })}>
          Set up
        </a>
      )}
      {asking && <ConsentDialog onClose={() => setAsking(false)} />}
    </li>
  );
}

function Browsers({ browsers }: { browsers: readonly api.BrowserInfo[] }) {
  const now = useNow(10_000);
  const remove = async (id: string) => {
    if (await attempt(() => api.removeBrowser(id))) await refreshServer();
  };
  return (
    <ul class="connections">
      {browsers.map((b) => (
        <li key={b.id}>
          <span class={`dot ${b.connected ? "good" : "off"}`} />
          <div>
            <p>
              <strong>{b.label}</strong>
            </p>
            <p class="faint">
              {b.connected ? "Connected" : `Last here ${ago(b.lastSeen, now) || "at some time"}${ago(b.lastSeen, now).match(/\d (min|h|d)$/) ? " ago" : ""}`} · extension {b.version}
            </p>
          </div>
          <button type="button" class="small quiet" onClick={() => void remove(b.id)}>
            <Icon name="trash" /> Remove
          </button>
        </li>
      ))}
    </ul>
  );
}

function NoBrowser({ waiting }: { waiting: boolean }) {
  if (waiting) return <p>A browser asks to be let in: compare its code at the top of this page.</p>;
  return (
    <div>
      <p>No browser is paired yet. To use a chat tab as the model:</p>
      <ol class="how">
        <li>
          In a terminal: <code>plexus extension</code> <CopyButton text={() => "plexus extension"} /> It writes the extension and says where.
        </li>
        <li>
          In Chrome, open <code>chrome://extensions</code>, switch on developer mode, choose “Load unpacked” and the folder that was named.
        </li>
        <li>A code appears here and in the extension. When both are the same, approve it.</li>
      </ol>
    </div>
  );
}
