// plugin/author/messages/threads.ts: messages and own copies, grouped by correspondent.
import { readGuestKey } from "../../keys/guest.js";
import type { SentCopy } from "../../messages/send/outbox-entry.js";
import { type InboxEntry, isOpened } from "./mailbox.js";
import { inSeconds, isWithKnownKey, type OpenedCopy, readTime } from "./message-facts.js";

/** What the author and one correspondent wrote to each other. */
export interface Thread {
  /** `null` for messages that are not signed with a key that the author knows as that of their sender. */
  address: string | null;
  received: InboxEntry[];
  sent: OpenedCopy[];
}

/** A thread for each correspondent, those with verified addresses first, then guests, then unverified messages. */
export function toThreads(messages: readonly InboxEntry[], own: readonly OpenedCopy[]): Thread[] {
  const threads = new Map<string | null, Thread>();
  for (const message of messages) {
    const address = isOpened(message) && isWithKnownKey(message) ? message.message.address : null;
    const thread = threads.get(address) ?? { address, received: [], sent: [] };
    thread.received.push(message);
    threads.set(address, thread);
  }
  for (const copy of own) {
    for (const address of copy.to) {
      const thread = threads.get(address) ?? { address, received: [], sent: [] };
      thread.sent.push(copy);
      threads.set(address, thread);
    }
  }
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

/** The place of a message in its conversation. */
interface Moment {
  /** The time that the message states. */
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
