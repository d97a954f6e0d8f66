// plugin/cli/message/mailbox.ts: what all actions of `eleventy-twtxt message` work with.
import { setTimeout } from "node:timers/promises";
import { TwtxtError } from "../../errors.js";
import type { SecretKey } from "../../keys/key.js";
import { Contacts } from "../../messages/lookup/contacts.js";
import { type Lookup, lookupOnce } from "../../messages/lookup/lookup.js";
import { type SenderLookup, type SenderLookupOptions, senderLookup } from "../../messages/lookup/sender-lookup.js";
import { type InboxClient, inboxClient } from "../../messages/read/inbox-client.js";
import type { OwnKeys } from "../../messages/read/open-with.js";
import { Outbox, type RecipientReport } from "../../messages/send/outbox.js";
import { type Author, authorAt } from "../author.js";
import { networkOf } from "../looking-up.js";
import { ownKeys } from "../own-keys.js";
import { checkUrl, type OwnSiteValues } from "../own-site.js";
import type { Terminal } from "../terminal.js";

/** The author's own, and the way to others. */
export interface Mailbox {
  author: Author;
  /** Which signs and seals. */
  key: SecretKey;
  /** Which open what was sealed to the author, today or before. */
  keys: OwnKeys;
  contacts: Contacts;
  /** Asks for each address once. */
  lookup: Lookup;
  /** Looks up who has written. */
  senders(options?: Pick<SenderLookupOptions, "patienceMs">): SenderLookup;
  /** @param onResult - told of each recipient as soon as it is known what came of it */
  outbox(onResult?: (report: RecipientReport) => void): Outbox;
  /**
   * @param fetch - in the place of the platform's
   * @throws TwtxtError `no-such-address`, `unreachable` or `key-changed` where its URL has to be looked up
   */
  inbox(fetch?: typeof globalThis.fetch): Promise<InboxClient>;
}

const NAME = "message";

/** @throws TwtxtError `bad-usage`, and as {@link authorAt} */
export async function mailboxOf(values: OwnSiteValues, terminal: Terminal): Promise<Mailbox> {
  checkUrl(values, NAME);
  const { url } = values;
  const network = networkOf(values, NAME);
  const author = await authorAt(values, terminal, NAME);
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
    senders: (options = {}) => senderLookup(network.lookup, { now, ...options }),
    outbox: (onResult) =>
      new Outbox({ store, ask: network.ask, now, random: Math.random, ...(onResult && { onResult }) }),
    inbox: async (fetch = globalThis.fetch) => {
      const endpoint = atOrigin(author.endpoint ?? (await publishedInbox(author, lookup)), url);
      return inboxClient({ endpoint, signer: identity, fetch, now, sleep });
    },
  };
}

/** Ends early where the signal says so. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
}

/** An inbox that is not one's own is never read: on some brokers that takes messages away. PROTOCOL 3.4 */
async function publishedInbox({ address, identity }: Author, lookup: Lookup): Promise<string> {
  const { key, endpoint } = await lookup(address);
  if (key === identity.publicKey) return endpoint;
  throw new TwtxtError(
    "key-changed",
    `${address} is published with another key than the one on this machine, so its inbox is not read. Give the site the option key: "${identity.publicKey}", build and deploy.`,
  );
}

function atOrigin(endpoint: string, url: string | undefined): string {
  if (url === undefined) return endpoint;
  const { pathname, search } = new URL(endpoint);
  return new URL(url).origin + pathname + search;
}
