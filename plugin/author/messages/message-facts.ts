// plugin/author/messages/message-facts.ts: what is known about messages: sender, certainty, time and text; the author's own copies; and conversations.
import { valueOrNull } from "../../errors.js";
import { remember } from "../../groups.js";
import { readGuestKey, shortKey } from "../../keys/guest.js";
import { readName } from "../../messages/guest-name.js";
import { parseMessage } from "../../messages/plaintext.js";
import type { OpenedMessage, Receipt, UnreadableMessage } from "../../messages/read/read.js";
import { type OwnKeys, openWith } from "../../messages/sealing.js";
import type { SentCopy } from "../../messages/send/outbox-entry.js";
import { typed } from "../invocation.js";

/** An opened message, and the author's own messages that it confirms as read. */
export type ReadMessage = OpenedMessage & { receipts: Receipt[] };

export type InboxEntry = ReadMessage | UnreadableMessage;

export function isOpened<T extends OpenedMessage>(one: T | UnreadableMessage): one is T {
  return !("unreadable" in one);
}

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
  const open = () => parseMessage(new TextDecoder().decode(openWith(sealed, keys).plaintext));
  return valueOrNull(() => readText({ message: open() }));
}

export interface Thread {
  /** `null` for messages that are not signed with a key that the author knows as that of their sender. */
  address: string | null;
  received: InboxEntry[];
  sent: OpenedCopy[];
}

/** A thread for each correspondent, those with verified addresses first, then guests, then unverified messages. */
export function toThreads(messages: readonly InboxEntry[], own: readonly OpenedCopy[]): Thread[] {
  const threads = new Map<string | null, Thread>();
  const find = (address: string | null) =>
    remember(threads, address, (): Thread => ({ address, received: [], sent: [] }));
  for (const message of messages) {
    find(isOpened(message) && isWithKnownKey(message) ? message.message.address : null).received.push(message);
  }
  for (const copy of own) for (const address of copy.to) find(address).sent.push(copy);
  return [...threads.values()].sort((a, b) => toRank(a) - toRank(b));
}

/** The key of an address that the author knows, and the one that its site publishes now. Both are `kex1...`. */
export interface KeyChange {
  address: string;
  pinned: string;
  now: string;
}

/** The addresses with another key than the known one, each once. */
export function findKeyChanges(messages: Iterable<InboxEntry>): KeyChange[] {
  const changes = new Map<string, KeyChange>();
  for (const one of messages) {
    if (!isOpened(one) || one.trust.trust !== "key-changed" || one.message.address === null) continue;
    const { address } = one.message;
    changes.set(address, { address, pinned: one.trust.pinned, now: one.trust.now });
  }
  return [...changes.values()];
}

interface Moment {
  time: string;
  /** When it came to the inbox, or was written on this machine. */
  created: string;
}

export function toMoment(message: InboxEntry): Moment {
  return { time: readTime(message), created: message.created };
}

export function ownMoment({ created }: Pick<SentCopy, "created">): Moment {
  return { time: inSeconds(created), created };
}

/** Stated times are whole seconds. Within one, an answer came later than what it answers. */
export function byTime(a: Moment, b: Moment): number {
  return toSecond(a) - toSecond(b) || Date.parse(a.created) - Date.parse(b.created);
}

function toSecond({ time }: Moment): number {
  return Math.floor(Date.parse(time) / 1000);
}

function toRank({ address }: Thread): number {
  if (address === null) return 2;
  return readGuestKey(address) === null ? 0 : 1;
}
