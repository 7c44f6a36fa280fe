import { appendText, findView, readText, replaceText } from "./page/editor";
import { portName, type FromPage, type Reply, type ToPage } from "./page/messages";
import { Streams } from "./page/streams";
import { chatgptWire as wire } from "./sites/chatgpt/wire";

/**
 * Runs in the page's own world before any script of the page. It does what only can be done there: it watches the
 * page's streams and reaches its editor. It decides nothing, and is inert until the isolated script arms it.
 */
function start(): void {
  let port: MessagePort | null = null;
  const tell = (message: FromPage): void => port?.postMessage(message);
  const streams = new Streams(wire, tell);
  streams.install(globalThis);

  const take = (event: MessageEvent<ToPage>): void => {
    const message = event.data;
    switch (message.type) {
      case "arm":
        streams.arm(message.nonce);
        break;
      case "disarm":
        streams.disarm();
        break;
      default:
        tell(edit(message));
    }
  };

  // The channel comes before any script of the page can listen, and the page never sees it.
  const receive = (event: MessageEvent<unknown>): void => {
    const end = event.ports[0];
    if (event.source !== window || event.data !== portName || end === undefined) return;
    event.stopImmediatePropagation();
    removeEventListener("message", receive, true);
    port = end;
    port.onmessage = take;
    tell({ type: "up" });
  };
  addEventListener("message", receive, true);
}

function edit(message: Extract<ToPage, { id: number }>): Reply {
  const reply: Reply = { type: "reply", id: message.id, text: "", error: "" };
  try {
    const node = wire.editor(document);
    const view = node === null ? null : findView(node);
    if (view === null) return { ...reply, error: node === null ? "no editor" : "no view" };
    if (message.type === "insert") replaceText(view, message.text);
    if (message.type === "append") appendText(view, message.text);
    return { ...reply, text: readText(view) };
  } catch (error) {
    return { ...reply, error: String(error).slice(0, 300) };
  }
}

start();
