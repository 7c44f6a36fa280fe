// The bearer: handed over by a one-time key in the address, kept in this tab alone.

const slot = "plexus.token";

export function token(): string {
  return sessionStorage.getItem(slot) ?? "";
}

export function forget(): void {
  sessionStorage.removeItem(slot);
}

/** What became of the key in the address: none there, taken, or refused with words. */
export type Exchange = { result: "none" } | { result: "taken" } | { result: "refused"; text: string };

/**
 * Exchanges #key=... for a token and takes the key out of the address and the
 * history before anything else can read it. "#key=K&to=/t/ID" goes on to that page.
 */
export async function exchange(): Promise<Exchange> {
  if (!location.hash.startsWith("#key=")) return { result: "none" };
  const params = new URLSearchParams(location.hash.slice(1));
  const key = params.get("key") ?? "";
  const to = params.get("to") ?? "";
  history.replaceState(null, "", location.pathname + (to.startsWith("/") ? "#" + to : ""));
  try {
    const response = await fetch("/api/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ key }),
    });
    const body: unknown = await response.json().catch(() => null);
    if (response.ok && typeof body === "object" && body !== null && "token" in body && typeof body.token === "string") {
      sessionStorage.setItem(slot, body.token);
      return { result: "taken" };
    }
    return { result: "refused", text: "This link was used already or is too old." };
  } catch {
    return { result: "refused", text: "Plexus does not answer." };
  }
}
