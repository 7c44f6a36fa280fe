import { PageScript } from "./content/page";
import { Tab } from "./content/tab";
import { siteOf } from "./sites/sites";

/** Runs in every page of a site, apart from the page's own world. It does nothing until the worker connects to it. */
function start(): void {
  const site = siteOf(location.href);
  if (site === null) return;
  const life = new AbortController();
  const tab = new Tab(site, new PageScript(window), life.signal);
  chrome.runtime.onConnect.addListener((port) => tab.connect(port));
  addEventListener("pagehide", (event) => {
    if (!event.persisted) life.abort();
  });
}

start();
