import { popupPort, type FromPopup, type PopupState } from "./messages";

function part(id: string): HTMLElement {
  const node = document.getElementById(id);
  if (node === null) throw new Error(`no #${id}`);
  return node;
}

/** What to say for each state: a headline, and what it means or what to do. */
function words(state: PopupState): { headline: string; about: string } {
  switch (state.link) {
    case "connected":
      return {
        headline: "Connected to Plexus",
        about: state.tabs === 0 ? "No chat tab is in use." : `${state.tabs} chat ${state.tabs === 1 ? "tab is" : "tabs are"} in use.`,
      };
    case "pairing":
      return { headline: "Waiting for your approval", about: "Compare this code with the one that Plexus shows, and approve it there." };
    case "refused":
      return { headline: "Not connected", about: state.text };
    case "connecting":
      return { headline: "Looking for Plexus", about: state.text || "Start it with \u201cplexus\u201d on this machine." };
  }
}

function show(state: PopupState): void {
  document.body.dataset["link"] = state.link;
  const { headline, about } = words(state);
  part("headline").textContent = headline;
  part("about").textContent = about;
  part("code").textContent = state.code;
  part("code").hidden = state.link !== "pairing";
  part("retry").hidden = state.link === "connected" || state.link === "pairing";
  const plexus = state.plexus === "" ? "" : ` \u00b7 Plexus ${state.plexus} on port ${state.port}`;
  part("versions").textContent = `Extension ${state.extension}${plexus}`;
}

/** Follows the worker; a worker that ended is started by connecting again. */
function connect(): void {
  const port = chrome.runtime.connect({ name: popupPort });
  port.onMessage.addListener((state: PopupState) => show(state));
  port.onDisconnect.addListener(() => setTimeout(connect, 200));
  part("retry").onclick = () => port.postMessage({ type: "retry" } satisfies FromPopup);
}

connect();
