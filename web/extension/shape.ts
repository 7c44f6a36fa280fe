/** The kinds that a checked field may have; a question mark allows it to be missing. */
type Kind = "string" | "number" | "boolean" | "unknown" | "string?" | "number?" | "boolean?" | "object?" | "object";

/** Names the fields of one message and their kinds, for each value of "type". */
export type Shapes<M extends { type: string }> = { readonly [T in M["type"]]: Readonly<Record<string, Kind>> };

/**
 * Checks what came from a script that shares a process with a web page. Returns null for anything that is not one of the
 * messages of shapes; fields that the shape does not name are the receiver's business.
 */
export function checked<M extends { type: string }>(shapes: Shapes<M>, value: unknown): M | null {
  if (typeof value !== "object" || value === null) return null;
  const fields = value as Record<string, unknown>;
  const type = fields["type"];
  if (typeof type !== "string" || !Object.hasOwn(shapes, type)) return null;
  for (const [name, kind] of Object.entries(shapes[type as M["type"]])) {
    const got = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (kind === "unknown" || (got === undefined && kind.endsWith("?"))) continue;
    if (typeof got !== kind.replace("?", "") || got === null) return null;
  }
  return value as M;
}
