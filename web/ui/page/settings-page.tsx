// Every setting with its default, bounds and a sentence, made from what the daemon declares.

import { useState } from "preact/hooks";
import * as api from "../api.ts";
import { attempt } from "../commands.ts";
import { askPermission } from "../notify.ts";
import { Failure, Loading } from "../part/failure.tsx";
import { useLoad } from "../part/hooks.ts";
import { notify, setNotify, type Theme, theme } from "../prefs.ts";
import { refreshServer, sendKey } from "../state.ts";
import { say } from "../toast.ts";
import { WordsWithCode } from "../part/words-with-code.tsx";

export function SettingsPage() {
  const [query, setQuery] = useState("");
  const [settings, again] = useLoad((signal) => api.getSettings(signal), []);
  const low = query.trim().toLowerCase();
  const fits = (s: api.Setting) => low === "" || `${s.key} ${s.section} ${s.doc}`.toLowerCase().includes(low);
  const shown = settings.state === "ok" ? settings.value.filter(fits) : [];
  const sections = [...new Set(shown.map((s) => s.section))];
  return (
    <div class="page">
      <h1>Settings</h1>
      <input class="page-search" type="search" placeholder="Search in settings" aria-label="Search in settings" value={query} onInput={(e) => setQuery(e.currentTarget.value)} />
      {settings.state === "loading" && <Loading what="settings" />}
      {settings.state === "failed" && <Failure error={settings.error} retry={again} />}
      {low === "" && <ThisBrowser />}
      {sections.map((section) => (
        <section class="form-section" key={section} aria-label={section}>
          <h2>{section}</h2>
          {shown
            .filter((s) => s.section === section)
            .map((s) => (
              <SettingField setting={s} changed={again} key={s.key} />
            ))}
        </section>
      ))}
      {settings.state === "ok" && shown.length === 0 && <p class="faint">No setting has these words.</p>}
      {low === "" && <Secrets />}
    </div>
  );
}

function ThisBrowser() {
  return (
    <section class="form-section" aria-label="This browser">
      <h2>This browser</h2>
      <div class="field">
        <label for="theme">Theme</label>
        <select id="theme" value={theme.value} onChange={(e) => (theme.value = e.currentTarget.value as Theme)}>
          <option value="system">As the system</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </div>
      <div class="field">
        <label for="notify">Desktop notifications</label>
        <input
          id="notify"
          type="checkbox"
          checked={notify.value}
          onChange={(e) => {
            const box = e.currentTarget;
            if (!box.checked) return setNotify(false);
            void askPermission().then((granted) => {
              setNotify(granted);
              box.checked = granted;
              if (!granted) say({ tone: "error", text: "The browser does not allow notifications for this page.", todo: "Allow them in the site settings beside the address." });
            });
          }}
        />
        <p class="faint">When a turn ends or waits for you while this page is in the background.</p>
      </div>
    </section>
  );
}

function SettingField({ setting, changed }: { setting: api.Setting; changed(): void }) {
  const [value, setValue] = useState(setting.value);
  const [error, setError] = useState("");
  const id = `setting-${setting.key}`;
  const save = async (next: string) => {
    setValue(next);
    setError("");
    if (next === setting.value) return;
    try {
      await api.putSetting(setting.key, next);
      if (setting.key === "ui.send-key") sendKey.value = next === "enter" ? "enter" : "ctrl-enter";
      say({ tone: "info", text: `${setting.key} is now ${next || "empty"}.` });
      changed();
      void refreshServer();
    } catch (err) {
      setError(err instanceof Error ? err.message : String(err));
    }
  };
  const reset = async () => {
    if (await attempt(() => api.resetSetting(setting.key))) {
      setValue(setting.default);
      setError("");
      changed();
      void refreshServer();
    }
  };
  return (
    <div class="field">
      <label for={id}>
        <code>{setting.key}</code>
      </label>
      <Input id={id} setting={setting} value={value} edit={setValue} save={(v) => void save(v)} invalid={error !== ""} />
      <p class="faint" id={`${id}-doc`}>
        <WordsWithCode text={setting.doc} /> {facts(setting)}
        {setting.set && (
          <button type="button" class="quiet small" onClick={() => void reset()}>
            Back to {setting.default || "empty"}
          </button>
        )}
      </p>
      {error && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

interface InputProps {
  id: string;
  setting: api.Setting;
  value: string;
  edit(value: string): void;
  save(value: string): void;
  invalid: boolean;
}

function Input({ id, setting, value, edit, save, invalid }: InputProps) {
  const common = { id, "aria-describedby": `${id}-doc`, "aria-invalid": invalid };
  switch (setting.type) {
    case "bool":
      return <input {...common} type="checkbox" checked={value === "true"} onChange={(e) => save(String(e.currentTarget.checked))} />;
    case "choice":
      return (
        <select {...common} value={value} onChange={(e) => save(e.currentTarget.value)}>
          {setting.options.map((o) => (
            <option value={o} key={o}>
              {o}
            </option>
          ))}
        </select>
      );
    default:
      return (
        <input
          {...common}
          type="text"
          inputMode={setting.type === "number" ? "numeric" : "text"}
          value={value}
          placeholder={setting.default}
          spellcheck={false}
          onInput={(e) => edit(e.currentTarget.value)}
          onBlur={(e) => save(e.currentTarget.value)}
          onKeyDown={(e) => e.key === "Enter" && save(e.currentTarget.value)}
        />
      );
  }
}

function facts(s: api.Setting): string {
  const words: string[] = [];
  if (s.default !== "") words.push(`Default ${s.default}.`);
  if (s.min !== "" && s.max !== "") words.push(`From ${s.min} to ${s.max}.`);
  return words.join(" ");
}

function Secrets() {
  const [secrets, again] = useLoad((signal) => api.getSecrets(signal), []);
  return (
    <section class="form-section" aria-label="Secrets">
      <h2>Secrets</h2>
      {secrets.state === "failed" && <Failure error={secrets.error} retry={again} />}
      {secrets.state === "ok" && (
        <>
          <p class="faint">Kept in {secrets.value.place || "the key store of this system"}; never shown again once set.</p>
          {secrets.value.secrets.map((s) => (
            <SecretField secret={s} changed={again} key={s.name} />
          ))}
        </>
      )}
    </section>
  );
}

function SecretField({ secret, changed }: { secret: api.Secret; changed(): void }) {
  const [value, setValue] = useState("");
  const id = `secret-${secret.name}`;
  const save = async () => {
    if (value !== "" && (await attempt(() => api.putSecret(secret.name, value)))) {
      setValue("");
      say({ tone: "info", text: `${secret.name} is set.` });
      changed();
      void refreshServer();
    }
  };
  return (
    <form
      class="field"
      onSubmit={(e) => {
        e.preventDefault();
        void save();
      }}
    >
      <label for={id}>
        <code>{secret.name}</code>
      </label>
      <span class="with-button">
        <input
          id={id}
          type="password"
          autocomplete="off"
          value={value}
          placeholder={secret.set ? "Set; type to replace it" : "Not set"}
          onInput={(e) => setValue(e.currentTarget.value)}
        />
        <button type="submit" disabled={value === ""}>
          Save
        </button>
        {secret.set && (
          <button
            type="button"
            class="danger"
            onClick={() =>
              void attempt(() => api.removeSecret(secret.name)).then(() => {
                changed();
                void refreshServer();
              })
            }
          >
            Remove
          </button>
        )}
      </span>
    </form>
  );
}
