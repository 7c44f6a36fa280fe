/** Whether the extension writes what it does to the console. A build with false has no trace of the calls. */
export const debugging = false;

/** Writes a line for a developer. Call it as `if (debugging) debug(...)`. */
export function debug(...parts: unknown[]): void {
  console.debug("plexus", ...parts);
}
