/** What the tests call with values of their own, in a real document. */
export { isThere, reply } from "../content/recover";
export { bare, fingerprint } from "../content/wait";
export { Updates } from "../content/updates";
export { checked } from "../shape";
export { fromContent } from "../messages";
export { resetTime } from "../sites/chatgpt/notices";
export { renderedText } from "../sites/chatgpt/rendered";
export { chatgpt } from "../sites/chatgpt/site";
export { chatgptWire } from "../sites/chatgpt/wire";
export { parseToWorker } from "../../protocol/link";
