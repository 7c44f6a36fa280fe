import type { Site } from "../site";
import { origin, place, samePlace } from "./address";
import { attachmentRemovers, composerState, editor, sendButton, stopButton } from "./composer";
import { dismissals, notices } from "./notices";
import { projectForm, projects } from "./projects";
import { messages } from "./transcript";

/** ChatGPT. When its pages change, this folder changes and nothing else. */
export const chatgpt: Site = {
  name: "chatgpt",
  origin,
  place,
  samePlace,
  composerState,
  editor,
  sendButton,
  stopButton,
  attachmentRemovers,
  messages,
  notices,
  dismissals,
  projects,
  projectForm,
};
