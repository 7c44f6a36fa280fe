import type { ToDaemon } from "../protocol/link";
import { fromPopup, popupPort, toWorkerScript, type PopupState } from "./messages";
import { checked } from "./shape";
import { Commands } from "./worker/commands";
import { Link } from "./worker/link";
import { Records } from "./worker/records";
import { Tabs } from "./worker/tabs";

/**
 * The extension's worker: it joins the tabs of our threads to Plexus. The browser ends and starts it at will, so all
 * listeners are set while the script runs for the first time, and what must outlive it is in the records.
 */
function start(): void {
  const alarm = "link";
  const popups = new Set<chrome.runtime.Port>();
  const setup = Promise.withResolvers<{ tabs: Tabs; commands: Commands }>();

  const link = new Link({
    turns: async () => {
      await setup.promise;
      return (await records).facts();
    },
    message: (message) => void setup.promise.then(({ commands }) => commands.take(message)),
    changed: () => void show(),
  });
  const records = Records.load();
  const send = (message: ToDaemon): boolean => link.send(message);

  const show = async (to: Iterable<chrome.runtime.Port> = popups): Promise<void> => {
    const tabs = (await records).tabs.size;
    const state: PopupState = { type: "state", ...link.state, tabs };
    for (const port of to) port.postMessage(state);
    const badge = { connecting: "", connected: "", pairing: "?", refused: "!" }[link.state.link];
    await chrome.action.setBadgeText({ text: badge });
  };

  void records.then(async (known) => {
    known.onTabs = () => void show();
    const tabs: Tabs = new Tabs(known, send, (message, tab, page) => commands.told(message, tab, page));
    const commands = new Commands(known, tabs, send);
    await tabs.restore();
    setup.resolve({ tabs, commands });
  });

  const wake = (): void => void link.ensure();
  chrome.runtime.onStartup.addListener(wake);
  chrome.runtime.onInstalled.addListener(wake);
  chrome.alarms.onAlarm.addListener((tick) => {
    if (tick.name === alarm) wake();
  });
  chrome.tabs.onRemoved.addListener((tab) => void setup.promise.then(({ tabs }) => tabs.closed(tab)));
  chrome.tabs.onUpdated.addListener((tab, change) => void setup.promise.then(({ tabs }) => tabs.updated(tab, change)));
  chrome.tabs.onReplaced.addListener((added, removed) => void setup.promise.then(({ tabs }) => tabs.replaced(added, removed)));
  chrome.runtime.onMessage.addListener((value: unknown, sender) => {
    // Only our own script in a page of ours has something to say here; it makes the worker start, and that is all.
    if (sender.id === chrome.runtime.id && checked(toWorkerScript, value) !== null) wake();
  });
  chrome.runtime.onConnect.addListener((port) => {
    // A script in a web page has our id too, but never our address.
    const ours = port.sender?.id === chrome.runtime.id && port.sender.url === chrome.runtime.getURL("popup.html");
    if (port.name !== popupPort || !ours) return;
    popups.add(port);
    port.onDisconnect.addListener(() => popups.delete(port));
    port.onMessage.addListener((value: unknown) => {
      if (checked(fromPopup, value)?.type === "retry") void link.retry();
    });
    void show([port]);
  });

  void chrome.storage.local.setAccessLevel({ accessLevel: "TRUSTED_CONTEXTS" });
  void chrome.alarms.create(alarm, { periodInMinutes: 0.5 });
  wake();
}

start();
