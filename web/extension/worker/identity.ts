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
