// A new thread: where, with which model, how carefully, and what.

import { useState } from "preact/hooks";
import { start } from "../commands.ts";
import { Composer } from "../part/composer.tsx";
import { ConsentDialog } from "../part/consent-dialog.tsx";
import { DirPicker } from "../part/dir-picker.tsx";
import { Icon } from "../part/icon.tsx";
import { levels } from "../part/thread-head.tsx";
import { lastFolder } from "../prefs.ts";
import { pathOf } from "../route.ts";
import { folders, server } from "../state.ts";

export function NewPage({ folder: wanted }: { folder: string }) {
  const [chosen, setChosen] = useState(wanted || lastFolder.get());
  const [model, setModel] = useState("");
  const [level, setLevel] = useState("");
  const [picking, setPicking] = useState(false);
  const [consent, setConsent] = useState(false);
  const all = folders.value;
  const folder = all.find((f) => f.id === chosen) ?? all[0];
  const models = server.value?.models ?? [];
  const defaultModel = server.value?.defaultModel ?? "";
  const used = models.find((m) => m.name === (model || defaultModel));
  const limit = levels.findIndex((l) => l.name === folder?.level);
  const needsConsent = used?.name === "chat" && server.value !== null && !server.value.consent;
  return (
    <div class="page new">
      <h1>New thread</h1>
      <div class="choices">
        <label>
          Folder
          <span class="with-button">
            <select value={folder?.id ?? ""} onChange={(e) => setChosen(e.currentTarget.value)} disabled={all.length === 0}>
              {all.length === 0 && <option value="">None approved yet</option>}
              {all.map((f) => (
                <option value={f.id} key={f.id}>
                  {f.name}
                </option>
              ))}
            </select>
            <button type="button" onClick={() => setPicking(true)}>
              <Icon name="plus" /> Approve
            </button>
          </span>
          {folder && <span class="faint path">{folder.path}</span>}
        </label>
        <label>
          Model
          <select value={model} onChange={(e) => setModel(e.currentTarget.value)}>
            <option value="">Default ({models.find((m) => m.name === defaultModel)?.label ?? defaultModel})</option>
            {models.map((m) => (
              <option value={m.name} key={m.name}>
                {m.label}
                {m.ready ? "" : " (not ready)"}
              </option>
            ))}
          </select>
        </label>
        <label>
          When to ask
          <select value={level} onChange={(e) => setLevel(e.currentTarget.value)}>
            <option value="">As the folder{folder ? ` (${folder.level})` : ""}</option>
            {levels
              .slice(0, limit < 0 ? 0 : limit)
              .reverse()
              .map((l) => (
                <option value={l.name} key={l.name}>
                  {l.name}: {l.doc}
                </option>
              ))}
          </select>
        </label>
      </div>
      {used && !used.ready && (
        <div class="notice warn">
          <Icon name="alert" />
          <div>
            <p>
              {used.label} is not ready{used.why ? `: ${used.why}` : "."}
            </p>
            <div class="buttons">
              {needsConsent && (
                <button type="button" class="small primary" onClick={() => setConsent(true)}>
                  Read what this means
                </button>
              )}
              <a class="button small" href={pathOf({ page: "connections" })}>
                Connections
              </a>
            </div>
          </div>
        </div>
      )}
      <Composer
        slot="new"
        placeholder={folder ? `What should be done in ${folder.name}?` : "Approve a folder first"}
        sendLabel="Start"
        history={[]}
        disabled={!folder}
        send={(text) =>
          folder ? start({ folder: folder.id, text, ...(model ? { model } : {}), ...(level ? { level } : {}) }) : Promise.resolve(false)
        }
      />
      {picking && <DirPicker onClose={() => setPicking(false)} onApproved={(f) => setChosen(f.id)} />}
      {consent && <ConsentDialog onClose={() => setConsent(false)} />}
    </div>
  );
}
