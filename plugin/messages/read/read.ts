// plugin/messages/read/read.ts: a sealed message of one's own inbox, opened and judged.
import { TwtxtError } from "../../errors.js";
import { formatKey } from "../../keys/key.js";
import { isReceipt, type Message, parseMessage, readHash, receiptsOf } from "../line.js";
import type { Contact, Contacts } from "../lookup/contacts.js";
import type { Found } from "../lookup/lookup.js";
import type { SenderLookup } from "../lookup/sender-lookup.js";
import { judge, type Trust } from "../lookup/trust.js";
import type { SentCopy } from "../send/outbox-entry.js";
import type { InboxMessage } from "./inbox-answer.js";
import { type OwnKeys, openWith } from "./open-with.js";

/** A message that has opened. What it says is a claim until it is verified. */
export interface OpenedMessage {
  id: string;
  /** When the inbox got it, `YYYY-MM-DDThh:mm:ss.sssZ`. */
  created: string;
  /** What a read receipt names it by. */
  hash: string;
  message: Message;
  /** The key that has signed it, `kex1...`. */
  signer: string;
  trust: Trust;
}

/** A message that does not open. */
export interface UnreadableMessage {
  id: string;
  created: string;
  /** A sentence. */
  unreadable: string;
}

export interface ReadOptions {
  /** Of whose inbox it is. */
  keys: OwnKeys;
  contacts: Contacts;
  lookup: SenderLookup;
}

/** A message that has opened, and what is pinned for the address that it claims. */
interface Claim {
  opened: Omit<OpenedMessage, "trust">;
  contact: Contact | null;
}

/** Looked up last. */
const STRANGER = Number.MAX_SAFE_INTEGER;

/**
 * Opens messages and says of each whether it is from whom it claims. A key that is verified for the first time is pinned.
 *
 * @returns them in their order, each of which is there once its sender is looked up
 * @throws TwtxtError `store-failed`
 * @see PROTOCOL 3.2, "Opening" and "Trust"
 */
export async function openMessages(
  messages: readonly InboxMessage[],
  { keys, contacts, lookup }: ReadOptions,
): Promise<Promise<OpenedMessage | UnreadableMessage>[]> {
  const all = await Promise.all(messages.map((message) => claimIn(message, { keys, contacts })));
  // The system resolves few names at a time: those of strangers wait behind those who have been known for long.
  const inTurn = [...all].sort((a, b) => rankOf(a) - rankOf(b));
  const judged = new Map(inTurn.map((one) => [one, judgedMessage(one, { contacts, lookup })]));
  return all.flatMap((one) => judged.get(one) ?? []);
}

async function claimIn(
  message: InboxMessage,
  { keys, contacts }: Pick<ReadOptions, "keys" | "contacts">,
): Promise<Claim | UnreadableMessage> {
  const opened = unsealed(message, keys);
  if ("unreadable" in opened) return opened;
  const { address, lines } = opened.message;
  if (address !== null) return { opened, contact: await contacts.get(address) };
  if (lines.length > 0 || !isReceipt(opened.message)) return { opened, contact: null };
  const contact = await signerAmong(contacts, opened.signer);
  return { opened: { ...opened, message: { ...opened.message, address: contact?.address ?? null } }, contact };
}

/**
 * Whose pinned key has signed: some clients send a receipt without a content line, so that it claims no address.
 *
 * @returns `null` for an unknown key, or one that several addresses share
 */
async function signerAmong(contacts: Contacts, signer: string): Promise<Contact | null> {
  const [contact = null, ...others] = (await contacts.list()).filter(({ key }) => key === signer);
  return others.length === 0 ? contact : null;
}

function unsealed(
  { id, created, payload }: InboxMessage,
  keys: OwnKeys,
): Omit<OpenedMessage, "trust"> | UnreadableMessage {
  try {
    const { plaintext, sender } = openWith(payload, keys);
    const message = parseMessage(new TextDecoder().decode(plaintext));
    return { id, created, hash: readHash(plaintext), message, signer: formatKey(sender) };
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    return { id, created, unreadable: error.message };
  }
}

function rankOf(one: Claim | UnreadableMessage): number {
  return "unreadable" in one || one.contact === null ? STRANGER : Date.parse(one.contact.since);
}

async function judgedMessage(
  one: Claim | UnreadableMessage,
  { contacts, lookup }: Pick<ReadOptions, "contacts" | "lookup">,
): Promise<OpenedMessage | UnreadableMessage> {
  if ("unreadable" in one) return one;
  const { opened, contact } = one;
  const { signer, message } = opened;
  const claimed = message.address;
  if (claimed === null) return { ...opened, trust: judge({ signer, claimed, found: null, contact }) };
  const found = await orError(lookup(claimed, contact !== null));
  const trust = judge({ signer, claimed, found, contact });
  if (trust.trust !== "verified" || found instanceof Error) return { ...opened, trust };
  // Another message, or another process, may have pinned another key meanwhile.
  return { ...opened, trust: judge({ signer, claimed, found, contact: await contacts.pin(found) }) };
}

async function orError(looking: Promise<Found>): Promise<Found | TwtxtError> {
  try {
    return await looking;
  } catch (error) {
    if (error instanceof TwtxtError) return error;
    throw error;
  }
}

/** Somebody has read what was sent to them. */
export interface Receipt {
  /** Of the message that says so. */
  id: string;
  /** Who. */
  by: string;
  /** When they have said so, as their inbox line has it; `null` where they did not say. */
  time: string | null;
  /** What they have read. */
  sent: SentCopy;
}

/**
 * The read receipts among messages. Those of somebody who is not verified, or to whom it was not sent, do not count.
 *
 * @param keys - which open one's own copies
 */
export function receiptsAmong(messages: readonly OpenedMessage[], sent: readonly SentCopy[], keys: OwnKeys): Receipt[] {
  const hashed = sent.flatMap((copy) => hashesOf(copy, keys).map((hash) => ({ hash, copy })));
  return messages.flatMap(({ id, message, trust }) => {
    const { address, lines } = message;
    if (trust.trust !== "verified" || address === null) return [];
    return receiptsOf(message).flatMap((hash) =>
      // The same words of one second, sent to several people one by one, are several copies with one hash.
      hashed
        .filter((one) => one.hash === hash && one.copy.to.includes(address))
        .map(({ copy }) => ({ id, by: address, time: lines[0]?.time ?? null, sent: copy })),
    );
  });
}

/** None for a copy that does not open. */
function hashesOf({ sealed }: SentCopy, keys: OwnKeys): string[] {
  try {
    return [readHash(openWith(sealed, keys).plaintext)];
  } catch (error) {
    if (error instanceof TwtxtError) return [];
    throw error;
  }
}
