/** Who this browser is towards Plexus. */
export interface Identity {
  browser: string;
  label: string;
  token: string;
}

const defaultPorts = [8765, 8766, 8767, 8768, 8769];

/** Reads the identity, and makes its id the first time. The token is readable by the worker and our own pages alone. */
export async function readIdentity(): Promise<Identity> {
  const kept = await chrome.storage.local.get(["browser", "token"]);
  let browser: unknown = kept["browser"];
  if (typeof browser !== "string" || browser.length < 8) {
    browser = `br_${crypto.randomUUID().replaceAll("-", "").slice(0, 20)}`;
    await chrome.storage.local.set({ browser });
  }
  const token: unknown = kept["token"];
  return { browser: String(browser), label: label(), token: typeof token === "string" ? token : "" };
}

export async function saveToken(token: string): Promise<void> {
  await chrome.storage.local.set({ token });
}

interface UserAgentData {
  brands: { brand: string; version: string }[];
  platform: string;
}

/** "Chromium 156 on Linux". */
function label(): string {
  const data = (navigator as Navigator & { userAgentData?: UserAgentData }).userAgentData;
  const real = data?.brands.filter((b) => !/not.?a.?brand/i.test(b.brand)) ?? [];
  const brand = real.find((b) => b.brand !== "Chromium") ?? real[0];
  return `${brand?.brand ?? "Browser"} ${brand?.version ?? ""}`.trim() + (data?.platform ? ` on ${data.platform}` : "");
}

/** The ports that Plexus may listen on, from the file that it writes into our folder. */
export async function readPorts(): Promise<number[]> {
  try {
    const file: unknown = await (await fetch(chrome.runtime.getURL("endpoint.json"))).json();
    const ports = typeof file === "object" && file !== null ? (file as { ports?: unknown }).ports : undefined;
    const valid = Array.isArray(ports) ? ports.filter((p): p is number => Number.isInteger(p) && p > 0 && p < 65536) : [];
    if (valid.length > 0) return valid.slice(0, 20);
  } catch {
    // A folder without the file uses the ports that Plexus tries by itself.
  }
  return defaultPorts;
}

const encoder = new TextEncoder();

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, "0")).join("");
}

/** What a side that knows the token says to the nonces of a connection to port; see Challenge of the protocol. */
export async function proof(token: string, role: "plexus" | "browser", port: number, hello: string, challenge: string): Promise<string> {
  const key = await crypto.subtle.digest("SHA-256", encoder.encode(token));
  const mac = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return hex(await crypto.subtle.sign("HMAC", mac, encoder.encode(`${role} ${port} ${hello} ${challenge}`)));
}

/** A refusal that holds until a person asks to try again, also when the worker is started anew. */
export async function readRefusal(): Promise<string> {
  const { refusal } = await chrome.storage.session.get("refusal");
  return typeof refusal === "string" ? refusal : "";
}

export async function saveRefusal(text: string): Promise<void> {
  if (text === "") await chrome.storage.session.remove("refusal");
  else await chrome.storage.session.set({ refusal: text });
}
