// plugin/author/messages/message-facts.ts: what is known about a message: its sender, whether it is certain, its time and text; and the author's own copies.
import { TwtxtError } from "../../errors.js";
import { readGuestKey, shortKey } from "../../keys/guest.js";
import { readName } from "../../messages/guest-name.js";
import { parseMessage } from "../../messages/plaintext.js";
import { type OwnKeys, openWith } from "../../messages/sealing.js";
import type { SentCopy } from "../../messages/send/outbox-entry.js";
import { typed } from "../invocation.js";
import { type InboxEntry, isOpened, type ReadMessage } from "./mailbox.js";

const UNKNOWN = "?";

/** For `--json`. */
export function toFacts(message: InboxEntry) {
  if (!isOpened(message)) return message;
  const { id, created, hash, signer, trust, receipts } = message;
  const { address, lines, events } = message.message;
  return {
    ...{ id, created, time: readTime(message), address, signer },
    ...{ guest: isFromGuest(message), name: isFromGuest(message) ? readName(message.message) : null },
    ...{ trust: trust.trust, byDns: trust.trust === "verified" && trust.byDns, reason: describeReason(message) },
    ...{ text: readText(message), lines, events, hash },
    receipts: receipts.map(({ time, sent }) => ({ time, id: sent.id, created: sent.created })),
  };
}

/** The text of a message. Its line breaks are LF. */
export function readText({ message }: Pick<ReadMessage, "message">): string {
  return message.lines.map(({ text }) => text).join("\n");
}

/** The address of a correspondent, or the short form of a guest's, such as `guest kex1syu…cg`. */
export function shownAddress(address: string): string {
  const key = readGuestKey(address);
  return key === null ? address : `guest ${shortKey(key)}`;
}

/** The sender that a message claims; a guest with the stated name, such as `guest kex1syu…cg "Dana"`. */
export function shownSender(message: InboxEntry): string {
  if (!isOpened(message) || message.message.address === null) return UNKNOWN;
  return shownCorrespondent(message.message.address, [message]);
}

/** @param received - the messages of this address; the name of a guest is the one that was stated last */
export function shownCorrespondent(address: string, received: readonly InboxEntry[]): string {
  const name = claimedName(address, received);
  return name === null ? shownAddress(address) : `${shownAddress(address)} "${name.replaceAll('"', "'")}"`;
}

/** The name that a guest has stated last, which is not verified; `null` for none, and for other senders. */
export function claimedName(address: string, received: readonly InboxEntry[]): string | null {
  if (readGuestKey(address) === null) return null;
  for (const message of received.toReversed()) {
    const name = isOpened(message) ? readName(message.message) : null;
    if (name !== null) return name;
  }
  return null;
}

/** Whether a message names a guest as its sender. */
export function isFromGuest(message: InboxEntry): message is ReadMessage {
  return isOpened(message) && message.message.address !== null && readGuestKey(message.message.address) !== null;
}

/** The time that the message states, else the time of its arrival. */
export function readTime(message: InboxEntry): string {
  const time = isOpened(message) ? message.message.lines[0]?.time : null;
  return time ?? inSeconds(message.created);
}

/** A time without its fraction, `YYYY-MM-DDThh:mm:ssZ`. */
export function inSeconds(time: string): string {
  return `${time.slice(0, 19)}Z`;
}

/** Empty for a guest: "verified" next to a name would seem to confirm it. */
export function describeState(message: InboxEntry): string {
  if (!isOpened(message)) return "unreadable";
  const { trust } = message;
  if (trust.trust === "verified" && isFromGuest(message)) return "";
  if (trust.trust === "verified" && trust.byDns) return "verified by DNS";
  return trust.trust.replace("-", " ");
}

/** Whether a message was signed with a key that the author knew as the sender's when it came. */
export function isWithKnownKey({ trust, signer }: ReadMessage): boolean {
  return (
    trust.trust === "verified" ||
    trust.trust === "former-key" ||
    (trust.trust === "key-changed" && signer === trust.pinned)
  );
}

/** Why it is not certain who wrote a message; `null` if it is. */
export function describeReason({ trust, signer, message: { address } }: ReadMessage): string | null {
  switch (trust.trust) {
    case "verified":
      return null;
    case "unverified":
      return trust.reason;
    case "former-key":
      return `signed with the key that ${address} had until ${trust.until.slice(0, 10)}`;
    case "key-changed":
      if (signer === trust.pinned) return `signed with the key that you know; ${address} publishes another one now`;
      return `signed with a new key; ${keyAdvice(address)}`;
  }
}

/** What to do about an address with a new key, part of a sentence. */
export function keyAdvice(address: string | null): string {
  return `ask ${address} over another channel, then type: ${typed(`contacts accept ${address}`)}`;
}

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
