// plugin/author/messages/own-copies.ts: the author's own copies of sent messages, opened.
import { TwtxtError } from "../../errors.js";
import { parseMessage } from "../../messages/plaintext.js";
import { type OwnKeys, openWith } from "../../messages/sealing.js";
import type { SentCopy } from "../../messages/send/outbox-entry.js";
import { readText } from "./message-facts.js";

/** An own copy of a sent message. `text` is `null` if no key on this machine opens it. */
export interface OpenedCopy extends Omit<SentCopy, "sealed"> {
  text: string | null;
}

export function openCopies(copies: readonly SentCopy[], keys: OwnKeys): OpenedCopy[] {
  return copies.map(({ sealed, id, created, to }) => ({ id, created, to, text: ownText(sealed, keys) }));
}

export function shownText({ text }: Pick<OpenedCopy, "text">): string {
  return text ?? "(sealed to a key that is not on this machine)";
}

/** @returns the author's own text; `null` if none of the author's keys opens it */
export function ownText(sealed: string, keys: OwnKeys): string | null {
  try {
    return readText({ message: parseMessage(new TextDecoder().decode(openWith(sealed, keys).plaintext)) });
  } catch (error) {
    if (error instanceof TwtxtError) return null;
    throw error;
  }
}
