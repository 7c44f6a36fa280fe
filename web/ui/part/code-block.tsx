import { CopyButton } from "./copy-button.tsx";

/** A block of code with its language and a copy button. Long ones scroll, and can be reached by keyboard for that. */
export function CodeBlock({ lang, code }: { lang: string; code: string }) {
  return (
    <figure class="code">
      <figcaption>
        <span>{lang || "text"}</span>
        <CopyButton text={() => code} />
      </figcaption>
      <pre tabIndex={0} aria-label={lang ? `${lang} code` : "Code"}>
        <code>{code}</code>
      </pre>
    </figure>
  );
}
