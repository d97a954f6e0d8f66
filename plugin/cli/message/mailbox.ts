// plugin/cli/message/mailbox.ts: the author's inbox, outbox and contacts, and messages opened with the author's keys.
import { setTimeout } from "node:timers/promises";
import { TwtxtError } from "../../errors.js";
import type { SecretKey } from "../../keys/key.js";
import { receiptsOf } from "../../messages/line.js";
import { Contacts } from "../../messages/lookup/contacts.js";
import { type Lookup, lookupOnce } from "../../messages/lookup/lookup.js";
import {
  createSenderLookup,
  type SenderLookup,
  type SenderLookupOptions,
} from "../../messages/lookup/sender-lookup.js";
import type { InboxMessage } from "../../messages/read/inbox-answer.js";
import { type InboxClient, inboxClient } from "../../messages/read/inbox-client.js";
import {
  type OpenedMessage,
  openMessages,
  type Receipt,
  receiptsAmong,
  type UnreadableMessage,
} from "../../messages/read/read.js";
import type { OwnKeys } from "../../messages/sealing.js";
import { Outbox, type RecipientReport } from "../../messages/send/outbox.js";
import { type Author, authorAt, ownKeys } from "../author.js";
import { networkOf } from "../lookup.js";
import type { OwnSiteValues } from "../options.js";
import type { Terminal } from "../terminal.js";

export interface Mailbox {
  author: Author;
  /** Signs and seals. */
  key: SecretKey;
  /** Open what was sealed to the author, now or earlier. */
  keys: OwnKeys;
  contacts: Contacts;
  /** Looks each address up once. */
  lookup: Lookup;
  /** Looks up senders. */
  senders(options?: Pick<SenderLookupOptions, "patienceMs">): SenderLookup;
  /** @param onResult - called for each recipient as soon as its result is known */
  outbox(onResult?: (report: RecipientReport) => void): Outbox;
  /**
   * @param fetch - replaces the platform's
   * @throws TwtxtError `no-such-address`, `unreachable` or `key-changed` where its URL has to be looked up
   */
  inbox(fetch?: typeof globalThis.fetch): Promise<InboxClient>;
}

/** @throws TwtxtError as {@link authorAt} */
export async function mailboxOf(values: OwnSiteValues, terminal: Terminal): Promise<Mailbox> {
  const network = networkOf(values);
  const author = await authorAt(values, terminal);
  const { identity, store } = author;
  const keys = await ownKeys(author, terminal);
  const { now } = terminal;
  const lookup = lookupOnce(network.lookup);

  return {
    author,
    key: keys[0],
    keys,
    contacts: new Contacts(store, now),
    lookup,
    senders: (options = {}) => createSenderLookup(network.lookup, { now, ...options }),
    outbox: (onResult) =>
      new Outbox({ store, ask: network.ask, now, random: Math.random, ...(onResult && { onResult }) }),
    inbox: async (fetch = globalThis.fetch) => {
      const endpoint = atOrigin(author.endpoint ?? (await publishedInbox(author, lookup)), values.url);
      return inboxClient({ endpoint, signer: identity, fetch, now, sleep });
    },
  };
}

/** Resolves early when the signal aborts. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
}

/** Never reads the inbox of another key: on some brokers reading deletes messages. PROTOCOL 3.4 */
async function publishedInbox({ address, identity }: Author, lookup: Lookup): Promise<string> {
  const { key, endpoint } = await lookup(address);
  if (key === identity.publicKey) return endpoint;
  throw new TwtxtError(
    "key-changed",
    `${address} has published a key that is not the one on this machine, so its inbox was not read. Give the site the option key: "${identity.publicKey}", build and deploy.`,
  );
}

function atOrigin(endpoint: string, url: string | undefined): string {
  if (url === undefined) return endpoint;
  const { pathname, search } = new URL(endpoint);
  return new URL(url).origin + pathname + search;
}

/** An opened message, with the author's own messages that it confirms as read. */
export type ReadMessage = OpenedMessage & { receipts: Receipt[] };

/** A message of the inbox, opened if possible. */
export type InboxEntry = ReadMessage | UnreadableMessage;

/** @param lookup - looks up senders */
export async function readMessages(
  messages: readonly InboxMessage[],
  mailbox: Mailbox,
  lookup: SenderLookup,
): Promise<InboxEntry[]> {
  const { keys, contacts } = mailbox;
  return withReceipts(await Promise.all(await openMessages(messages, { keys, contacts, lookup })), mailbox);
}

/** Adds the author's own messages that these confirm as read. */
export async function withReceipts(
  all: readonly (OpenedMessage | UnreadableMessage)[],
  { keys, outbox }: Pick<Mailbox, "keys" | "outbox">,
): Promise<InboxEntry[]> {
  const opened = all.filter((one) => isOpened(one));
  const hasReceipts = opened.some(({ message, trust }) => {
    return trust.trust === "verified" && receiptsOf(message).length > 0;
  });
  const receipts = hasReceipts ? receiptsAmong(opened, await outbox().sent(), keys) : [];
  return all.map((one) => (isOpened(one) ? { ...one, receipts: receipts.filter(({ id }) => id === one.id) } : one));
}

export function isOpened<T extends OpenedMessage>(one: T | UnreadableMessage): one is T {
  return !("unreadable" in one);
}
