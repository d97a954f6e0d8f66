// plugin/messages/read/read.ts: opens messages and verifies their senders.
import { ifTwtxtError } from "../../errors.js";
import { formatKey } from "../../keys/key.js";
import type { Contact, Contacts } from "../lookup/contacts.js";
import type { SenderLookup } from "../lookup/sender-lookup.js";
import { judge, type Trust } from "../lookup/trust.js";
import { isReceipt, listReceipts, type Message, parseMessage, readHash } from "../plaintext.js";
import { type OwnKeys, openWith } from "../sealing.js";
import type { SentCopy } from "../send/outbox-entry.js";
import type { InboxMessage } from "./inbox-client.js";

/** An opened message. Its contents are claims unless `trust` is verified. */
export interface OpenedMessage {
  id: string;
  /** When the inbox received it, `YYYY-MM-DDThh:mm:ss.sssZ`. */
  created: string;
  /** The hash for read receipts. */
  hash: string;
  message: Message;
  /** The signing key, `kex1...`. */
  signer: string;
  trust: Trust;
}

export interface UnreadableMessage {
  id: string;
  created: string;
  /** The reason, a sentence. */
  unreadable: string;
}

interface ReadOptions {
  /** The keys of the inbox's owner. */
  keys: OwnKeys;
  contacts: Contacts;
  lookup: SenderLookup;
}

/** An opened message and the pinned contact of its claimed address. */
interface Claim {
  opened: Omit<OpenedMessage, "trust">;
  contact: Contact | null;
}

/** Sorts unknown senders last. */
const STRANGER = Number.MAX_SAFE_INTEGER;

/**
 * Opens messages and verifies their senders. A key that is verified for the first time is pinned.
 *
 * @returns the messages in their order, each resolved once its sender was looked up
 * @throws TwtxtError `store-failed`
 * @see PROTOCOL 3.2, "Opening" and "Trust"
 */
export async function openMessages(
  messages: readonly InboxMessage[],
  options: ReadOptions,
): Promise<Promise<OpenedMessage | UnreadableMessage>[]> {
  const all = await Promise.all(messages.map((message) => openClaim(message, options)));
  // The system resolves few names at a time, so the oldest contacts go first and unknown senders last.
  const byRank = [...all].sort((a, b) => toRank(a) - toRank(b));
  const judged = new Map(byRank.map((one) => [one, judgeMessage(one, options)]));
  return all.flatMap((one) => judged.get(one) ?? []);
}

async function openClaim(message: InboxMessage, { keys, contacts }: ReadOptions): Promise<Claim | UnreadableMessage> {
  const opened = unsealed(message, keys);
  if ("unreadable" in opened) return opened;
  const { address, lines } = opened.message;
  if (address !== null) return { opened, contact: await contacts.get(address) };
  if (lines.length > 0 || !isReceipt(opened.message)) return { opened, contact: null };
  const contact = await signerAmong(contacts, opened.signer);
  return { opened: { ...opened, message: { ...opened.message, address: contact?.address ?? null } }, contact };
}

/**
 * Finds the contact with the signing key. Some clients send receipts without a content line, hence without an address.
 *
 * @returns `null` for an unknown key, or one that several addresses share
 */
async function signerAmong(contacts: Contacts, signer: string): Promise<Contact | null> {
  const [contact = null, ...others] = (await contacts.list()).filter(({ key }) => key === signer);
  return others.length === 0 ? contact : null;
}

function unsealed({ id, created, payload }: InboxMessage, keys: OwnKeys) {
  try {
    const { plaintext, sender } = openWith(payload, keys);
    const message = parseMessage(new TextDecoder().decode(plaintext));
    return { id, created, hash: readHash(plaintext), message, signer: formatKey(sender) };
  } catch (error) {
    return ifTwtxtError(({ message }) => ({ id, created, unreadable: message }))(error);
  }
}

function toRank(one: Claim | UnreadableMessage): number {
  return "unreadable" in one || one.contact === null ? STRANGER : Date.parse(one.contact.since);
}

async function judgeMessage(one: Claim | UnreadableMessage, { contacts, lookup }: ReadOptions) {
  if ("unreadable" in one) return one;
  const { opened, contact } = one;
  const claimed = opened.message.address;
  const found = claimed === null ? null : await lookup(claimed, contact !== null).catch(ifTwtxtError((error) => error));
  const evidence = { signer: opened.signer, received: opened.created, claimed, found };
  const trust = judge({ ...evidence, contact });
  if (trust.trust !== "verified" || found === null || found instanceof Error) return { ...opened, trust };
  // Another message or process may have pinned a different key meanwhile.
  return { ...opened, trust: judge({ ...evidence, contact: await contacts.pin(found) }) };
}

export interface Receipt {
  /** Id of the receipt's message. */
  id: string;
  /** The reader's address. */
  by: string;
  /** The time in the receipt; `null` for none. */
  time: string | null;
  sent: SentCopy;
}

/**
 * Finds read receipts among messages. Those from unverified senders or non-recipients do not count.
 *
 * @param keys - open the author's copies
 */
export function receiptsAmong(messages: readonly OpenedMessage[], sent: readonly SentCopy[], keys: OwnKeys): Receipt[] {
  const hashed = sent.flatMap((copy) => listHashes(copy, keys).map((hash) => ({ hash, copy })));
  return messages.flatMap(({ id, message, trust }) => {
    const { address, lines } = message;
    if (trust.trust !== "verified" || address === null) return [];
    return listReceipts(message).flatMap((hash) =>
      // Copies with the same text and second, sent to several people one by one, share a hash.
      hashed
        .filter((one) => one.hash === hash && one.copy.to.includes(address))
        .map(({ copy }) => ({ id, by: address, time: lines[0]?.time ?? null, sent: copy })),
    );
  });
}

function listHashes({ sealed }: SentCopy, keys: OwnKeys): string[] {
  try {
    return [readHash(openWith(sealed, keys).plaintext)];
  } catch (error) {
    return ifTwtxtError(() => [])(error);
  }
}
