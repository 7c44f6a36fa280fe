/** Words of ours in which `backticks` mark what is typed into a terminal or a file. */
export function WordsWithCode({ text }: { text: string }) {
  const parts = text.split("`");
  // A lone backtick is a character like any other.
  if (parts.length % 2 === 0) return <>{text}</>;
  return <>{parts.map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>;
}
