/** How the server wants this page to look and act; see PageConfig in internal/practice. */
export interface Boot {
  hydrationMs: number;
  redirectMs: number;
  pasteLimit: number;
  stop: "testid" | "aria";
  picker: "header" | "none";
}

/** Reads what the document carries. */
export function readBoot(): Boot {
  const node = document.getElementById("practice-boot");
  return JSON.parse(node?.textContent ?? "{}") as Boot;
}
