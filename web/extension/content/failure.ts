import type { ResponseError } from "../../protocol/link";

/** A command that could not be done, with a code of the protocol. */
export class Failure extends Error {
  constructor(
    readonly code: string,
    text: string,
    /** Whether the send button had been clicked. */
    readonly clicked = false,
  ) {
    super(text);
  }
}

export function asResponseError(error: unknown): ResponseError {
  if (error instanceof Failure) return { code: error.code, text: error.message, clicked: error.clicked };
  if (error instanceof DOMException && error.name === "AbortError") return { code: "timeout", text: "The turn was ended.", clicked: false };
  return { code: "internal", text: String(error).slice(0, 500), clicked: false };
}
