// The folders that the model may work in, and what it may do there without asking.

import { useState } from "preact/hooks";
import * as api from "../api.ts";
import { attempt } from "../commands.ts";
import { DirPicker } from "../part/dir-picker.tsx";
import { Empty, Failure } from "../part/failure.tsx";
import { useLoad } from "../part/hooks.ts";
import { Icon } from "../part/icon.tsx";
import { levels } from "../part/thread-head.tsx";
import { pathOf } from "../route.ts";
import { folders, refreshServer, refreshThreads } from "../state.ts";
import type { Folder, Rule } from "../../protocol/api.ts";

export function FoldersPage() {
  const [picking, setPicking] = useState(false);
  return (
    <div class="page">
      <h1>Folders and rules</h1>
      <p class="lead">The model works inside these folders. Everything else on this machine stays closed to its file tools.</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => setPicking(true)}>
          <Icon name="plus" /> Approve a folder
        </button>
      </div>
      {folders.value.length === 0 && <Empty title="No folder is approved" text="Approve the folder of a project to give the first task." />}
      {folders.value.map((f) => (
        <FolderCard folder={f} key={f.id} />
      ))}
      {picking && <DirPicker onClose={() => setPicking(false)} onApproved={() => undefined} />}
    </div>
  );
}

function FolderCard({ folder }: { folder: Folder }) {
  const [rules, again] = useLoad((signal) => api.getRules(folder.id, signal), [folder.id]);
  const [sure, setSure] = useState(false);
  const remove = async () => {
    if (await attempt(() => api.removeFolder(folder.id))) await Promise.all([refreshServer(), refreshThreads()]);
  };
  return (
    <section class="panel" aria-label={folder.name}>
      <div class="panel-head">
        <div>
          <h2>{folder.name}</h2>
          <p class="faint path">{folder.path}</p>
        </div>
        <a class="button small" href={pathOf({ page: "new", folder: folder.id })}>
          <Icon name="plus" /> New thread
        </a>
        {sure ? (
          <>
            <button type="button" class="small danger" onClick={() => void remove()}>
              Remove it: its threads go to the archive
            </button>
            <button type="button" class="small" onClick={() => setSure(false)}>
              Keep
            </button>
          </>
        ) : (
          <button type="button" class="small quiet" onClick={() => setSure(true)}>
            <Icon name="trash" /> Remove
          </button>
        )}
      </div>
      <label class="field-line">
        When Plexus asks you
        <select
          value={folder.level}
          onChange={(e) => void attempt(() => api.setFolderLevel(folder.id, e.currentTarget.value)).then(refreshServer)}
        >
          {levels.map((l) => (
            <option value={l.name} key={l.name}>
              {l.name}: {l.doc}
            </option>
          ))}
        </select>
      </label>
      <h3>Always allowed</h3>
      {rules.state === "failed" && <Failure error={rules.error} retry={again} />}
      {rules.state === "ok" && rules.value.length === 0 && <p class="faint">Nothing. “Always allow” in an approval adds a rule here.</p>}
      {rules.state === "ok" && rules.value.length > 0 && (
        <ul class="rules">
          {rules.value.map((rule) => (
            <li key={rule.id}>
              <span>
                <span class="tag">{ruleKind(rule)}</span> <code>{rule.pattern}</code>
                {rule.kind === "exact" && rule.dir && (
                  <>
                    {" "}
                    in <code>{rule.dir}</code>
                  </>
                )}
              </span>
              <button type="button" class="small quiet" onClick={() => void attempt(() => api.removeRule(rule.id)).then(again)}>
                Revoke
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function ruleKind(rule: Rule): string {
  switch (rule.kind) {
    case "exact":
      return "this command";
    case "prefix":
      return "commands that begin with";
    case "write":
      return "writes";
    default:
      return rule.kind;
  }
}
