import { createRoot } from "react-dom/client";
import { App } from "./App";
import { readBoot } from "./boot";
import { Chat } from "./chat";
import { PageFaults } from "./faults";

const boot = readBoot();
const chat = new Chat(boot);
const faults = new PageFaults();

// Until this, the document's own textarea is all there is.
setTimeout(() => {
  const root = document.getElementById("root");
  if (root === null) return;
  createRoot(root).render(<App boot={boot} chat={chat} faults={faults} />);
  void chat.start();
  void faults.watch();
}, boot.hydrationMs);
