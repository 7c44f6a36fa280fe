// Hop by hop: what works, what does not, and what to do.

import * as api from "../api.ts";
import { CopyButton } from "../part/copy-button.tsx";
import { Failure, Loading } from "../part/failure.tsx";
import { useLoad } from "../part/hooks.ts";
import { Icon, type IconName } from "../part/icon.tsx";
import { server } from "../state.ts";
import { count } from "../words.ts";
import { WordsWithCode } from "../part/words-with-code.tsx";

export function DoctorPage() {
  const [checks, again] = useLoad((signal) => api.getDoctor(signal), []);
  const list = checks.state === "ok" ? checks.value : [];
  const failed = list.filter((c) => c.state === "fail").length;
  return (
    <div class="page">
      <h1>Doctor</h1>
      <div class="buttons">
        <button type="button" onClick={again}>
          Check again
        </button>
        {checks.state === "ok" && <CopyButton text={() => report(list)} label="Copy report" />}
      </div>
      {checks.state === "loading" && <Loading what="the checks" />}
      {checks.state === "failed" && <Failure error={checks.error} retry={again} />}
      {checks.state === "ok" && (
        <>
          <p role="status" class="lead">
            {failed === 0 ? "Everything that could be checked works." : `${count(failed, "check")} failed.`}
          </p>
          <ul class="checks">
            {list.map((c) => (
              <Check check={c} key={c.name} />
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

const looks: Readonly<Record<string, { icon: IconName; tone: string; word: string }>> = {
  pass: { icon: "check", tone: "good", word: "Works" },
  fail: { icon: "cross", tone: "bad", word: "Fails" },
  skipped: { icon: "chevron", tone: "idle", word: "Skipped" },
  "not-run": { icon: "clock", tone: "idle", word: "Not run" },
};

function Check({ check }: { check: api.DoctorCheck }) {
  const look = looks[check.state] ?? { icon: "info" as const, tone: "idle", word: check.state };
  return (
    <li class={look.tone}>
      <span class="status">
        <Icon name={look.icon} />
        <span class="sr">{look.word}:</span>
      </span>
      <div>
        <p>
          <strong>{check.name}</strong>
        </p>
        <p>
          <WordsWithCode text={check.text} />
        </p>
        {check.todo && (
          <p class="todo">
            <WordsWithCode text={check.todo} />
          </p>
        )}
      </div>
    </li>
  );
}

function report(checks: readonly api.DoctorCheck[]): string {
  const lines = checks.map((c) => `${c.state.padEnd(8)} ${c.name}: ${c.text}${c.todo ? `\n         ${c.todo}` : ""}`);
  return [`Plexus ${server.value?.version ?? ""}`, ...lines].join("\n") + "\n";
}
