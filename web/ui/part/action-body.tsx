// What an action did, opened.

import { useState } from "preact/hooks";
import * as api from "../api.ts";
import { inputText, readKept, readResult } from "../result.ts";
import type { StreamText } from "../stream-text.ts";
import { sayError } from "../toast.ts";
import type { Action } from "../../protocol/api.ts";
import { size } from "../words.ts";
import { CopyButton } from "./copy-button.tsx";
import { ChangeView } from "./diff-view.tsx";
import { Failure, Loading } from "./failure.tsx";
import { useLoad } from "./hooks.ts";
import { Icon } from "./icon.tsx";
import { LiveOutput } from "./live-text.tsx";

interface Props {
  action: Action;
  output: StreamText | undefined;
  version: number;
}

export function ActionBody({ action: known, output, version }: Props) {
  // Events hold only a stub of large inputs and results.
  const large = readKept(known.result) !== null || readKept(known.input) !== null;
  const [whole, again] = useLoad((signal) => (large ? api.getAction(known.id, signal) : Promise.resolve(known)), [known]);
  if (large && whole.state === "loading") return <Loading what="the result" />;
  if (whole.state === "failed") return <Failure error={whole.error} retry={again} />;
  const action = whole.state === "ok" ? whole.value : known;
  const result = readResult(action.result);
  const changes = result?.changes ?? [];
  const text = action.tool === "run" ? withoutCommand(result?.text ?? "", inputText(action.input, "command")) : (result?.text ?? "");
  return (
    <>
      <Asked action={action} />
      {action.state !== "done" && output && <LiveOutput pieces={output.pieces} version={version} label="Live output" />}
      {action.state === "running" && !output && <p class="faint">No output since this page looks.</p>}
      {action.state === "intended" && <p class="faint">Not begun.</p>}
      {changes.map((change) => (
        <ChangeView change={change} key={change.path} />
      ))}
      {action.state === "done" && (changes.length === 0 || result?.status !== "ok") && (
        <Output action={action} text={text} total={result?.bytes ?? 0} />
      )}
    </>
  );
}

/** What was asked for, as far as the title does not say it. */
function Asked({ action }: { action: Action }) {
  if (action.tool === "run") {
    const command = inputText(action.input, "command");
    const dir = inputText(action.input, "cwd");
    return (
      <div class="asked">
        {dir && <p class="faint">in {dir}</p>}
        <pre class="command" tabIndex={0} aria-label="Command">
          {command || action.title}
        </pre>
        <CopyButton text={() => command || action.title} label="Copy command" />
      </div>
    );
  }
  if (["read", "list", "search", "write"].includes(action.tool)) return null;
  return (
    <pre class="command" tabIndex={0} aria-label="Input">
      {JSON.stringify(action.input, null, 2)}
    </pre>
  );
}

const more = 1 << 20;

function Output({ action, text, total }: { action: Action; text: string; total: number }) {
  const [full, setFull] = useState<{ text: string; cut: boolean } | null>(null);
  const shown = full?.text ?? text;
  const show = () => {
    api.getOutput(action.id, more).then(setFull, sayError);
  };
  const save = async () => {
    try {
      const response = await api.request(`/api/actions/${encodeURIComponent(action.id)}/output`);
      if (!response.ok) throw new api.ApiError(response.status, "output", "The full output is not kept any more.", "");
      const url = URL.createObjectURL(await response.blob());
      const link = document.createElement("a");
      link.href = url;
      link.download = `${action.id}.txt`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    } catch (err) {
      sayError(err);
    }
  };
  return (
    <div class="result">
      {shown === "" ? (
        <p class="faint">No output.</p>
      ) : (
        <pre class="output" tabIndex={0} aria-label="Output">
          {shown}
        </pre>
      )}
      <div class="result-tools">
        {shown !== "" && <CopyButton text={() => shown} label="Copy output" />}
        {total > 0 && !full && (
          <button type="button" class="quiet small" onClick={show}>
            <Icon name="eye" /> Show full output ({size(total)})
          </button>
        )}
        {full?.cut && <span class="faint">The first {size(more)} of it.</span>}
        {total > 0 && (
          <button type="button" class="quiet small" onClick={() => void save()}>
            <Icon name="down" /> Save full output
          </button>
        )}
      </div>
    </div>
  );
}

/** A run's text begins with the command, which stands above it already. */
function withoutCommand(text: string, command: string): string {
  const whole = `$ ${command}\n`;
  if (command !== "" && text.startsWith(whole)) return text.slice(whole.length);
  return text.startsWith("$ ") ? text.slice(text.indexOf("\n") + 1 || text.length) : text;
}
