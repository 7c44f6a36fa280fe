import { useState } from "preact/hooks";
import { sayError } from "../toast.ts";
import { useLife } from "./hooks.ts";
import { Icon } from "./icon.tsx";

/** Copies what `text` gives; says so for two seconds. */
export function CopyButton({ text, label = "Copy" }: { text: () => string | Promise<string>; label?: string }) {
  const [copied, setCopied] = useState(false);
  useLife(
    (signal) => {
      if (!copied) return;
      const timer = setTimeout(() => setCopied(false), 2_000);
      signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    },
    [copied],
  );
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await text());
      setCopied(true);
    } catch (err) {
      sayError(err);
    }
  };
  return (
    <button type="button" class="quiet small" onClick={() => void copy()} title={label}>
      <Icon name={copied ? "check" : "copy"} />
      <span aria-live="polite">{copied ? "Copied" : label}</span>
    </button>
  );
}
