// plugin/author/messages/mailbox.ts: the author's inbox, outbox and contacts, messages opened with the author's keys, and actions about senders.
import type { Clock } from "../../clock.js";
import { memoize } from "../../concurrency.js";
import { reworded, TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { siteApi } from "../../http/site-api.js";
import { readDomain } from "../../keys/address.js";
import { isGuestAtSameSite, readGuestKey } from "../../keys/guest.js";
import { type Contact, Contacts } from "../../messages/lookup/contacts.js";
import type { Lookup } from "../../messages/lookup/lookup.js";
import {
  createSenderLookup,
  type SenderLookup,
  type SenderLookupOptions,
} from "../../messages/lookup/sender-lookup.js";
import { listReceipts } from "../../messages/plaintext.js";
import { blockedSenders, isBlocked } from "../../messages/read/blocked-senders.js";
import { InboxClient, type InboxMessage } from "../../messages/read/inbox-client.js";
import { type OpenedMessage, openMessages, receiptsAmong, type UnreadableMessage } from "../../messages/read/read.js";
import type { OwnKeys } from "../../messages/sealing.js";
import { Outbox, type RecipientReport } from "../../messages/send/outbox.js";
import type { OutboxEntry } from "../../messages/send/outbox-entry.js";
import { type MessageToSend, sendMessage } from "../../messages/send/send-message.js";
import { sleep } from "../../store/retry.js";
import type { Fetch } from "../../transport/fetch.js";
import { findLoopbackHost } from "../../url.js";
import { type Author, loadAuthor, ownKeys } from "../author.js";
import type { Machine, OwnSiteChoice } from "../machine.js";
import { createNetwork, ownUrl } from "../network.js";
import type { Outcome } from "../outcome.js";
import { MessageDrafts } from "./message-drafts.js";
import { type InboxEntry, isOpened, shownAddress } from "./message-facts.js";
import { ReadMarks } from "./read-marks.js";

/** Called for each recipient as soon as the result is known. */
type OnResult = (report: RecipientReport) => void;

/** The key of an address, as it is published and as the author knows it; `pinned` is `null` for an address that is not a contact. */
export type KeyComparison = Awaited<ReturnType<Mailbox["compareKey"]>>;

export class Mailbox {
  readonly contacts: Contacts;
  readonly blocked: ReturnType<typeof blockedSenders>;
  readonly readMarks: ReadMarks;
  readonly drafts: MessageDrafts;
  readonly lookup: Lookup;
  readonly #network: ReturnType<typeof createNetwork>;

  /** @param keys - the current key signs and seals, all of them open */
  private constructor(
    readonly author: Author,
    readonly keys: OwnKeys,
    private readonly choice: OwnSiteChoice,
    readonly now: Clock,
  ) {
    this.contacts = new Contacts(author.store, now);
    this.blocked = blockedSenders(author.store);
    this.readMarks = new ReadMarks(author.store);
    this.drafts = new MessageDrafts(author.store, keys, now);
    // The address has the host of the site, whose guests are looked up there.
    const domain = readDomain(author.address);
    const own = findLoopbackHost(`http://${domain}`);
    const hosts = { "allow-private-host": [...choice["allow-private-host"], ...own] };
    this.#network = createNetwork(hosts, { ownUrl: `https://${domain}` });
    this.lookup = memoize(this.#network.lookup);
  }

  /** @throws TwtxtError as {@link loadAuthor} */
  static async open(choice: OwnSiteChoice, machine: Machine): Promise<Mailbox> {
    const author = await loadAuthor(choice, machine);
    return new Mailbox(author, await ownKeys(author, machine), choice, machine.now);
  }

  senders(options: Pick<SenderLookupOptions, "patienceMs"> = {}): SenderLookup {
    return createSenderLookup(this.#network.lookup, { now: this.now, ...options });
  }

  outbox(onResult?: OnResult): Outbox {
    const { ask } = this.#network;
    const { store, address, identity } = this.author;
    const chooseSigner = (recipient: string) => (isGuestAtSameSite(recipient, address) ? identity : null);
    const options = { store, ask, now: this.now, random: Math.random, chooseSigner };
    return new Outbox({ ...options, ...(onResult && { onResult }) });
  }

  /** Sends a message of the author. @throws TwtxtError as `sendMessage` */
  send(message: MessageToSend, onResult: OnResult): ReturnType<typeof sendMessage> {
    const { author, contacts, lookup } = this;
    const from = { address: author.address, key: this.keys[0] };
    return sendMessage(message, { from, contacts, lookup, outbox: this.outbox(onResult), now: this.now });
  }

  /**
   * @param fetch - default: `fetchSafely`
   * @throws TwtxtError `no-such-address`, `unreachable` or `key-changed` if its URL has to be looked up
   */
  async inbox(fetch?: Fetch): Promise<InboxClient> {
    const endpoint = ownUrl(this.author.endpoint ?? (await this.#publishedInbox()), this.choice);
    const ask = siteApi({ root: endpoint, signer: this.author.identity, ...(fetch && { fetch }), now: this.now });
    return new InboxClient({ endpoint, ask, sleep });
  }

  async read(messages: readonly InboxMessage[], lookup = this.senders()): Promise<InboxEntry[]> {
    const { keys, contacts } = this;
    return this.withReceipts(await Promise.all(await openMessages(messages, { keys, contacts, lookup })));
  }

  /**
   * Deletes messages of blocked senders from the inbox. One that could not be deleted is left out, too, and deleted when it is
   * read again.
   *
   * @returns `wanted`: the others, in their order; `deleted`: how many were deleted
   */
  async withoutBlocked<T extends OpenedMessage | UnreadableMessage>(
    messages: readonly T[],
    inbox: InboxClient,
  ): Promise<{ wanted: T[]; deleted: number }> {
    const blocked = await this.blocked.list();
    const isUnwanted = (one: T) => isOpened<OpenedMessage>(one) && isBlocked(one, blocked);
    const deleting = await Promise.allSettled(messages.filter(isUnwanted).map(({ id }) => inbox.delete(id)));
    const deleted = deleting.filter(({ status }) => status === "fulfilled").length;
    return { wanted: messages.filter((one) => !isUnwanted(one)), deleted };
  }

  /** Looks an address up, and compares its key with the known one. @throws TwtxtError as `lookup` */
  async compareKey(address: string) {
    const pinned = await this.contacts.get(address);
    return { address, pinned, found: await this.#network.lookup(address) };
  }

  async withReceipts(all: readonly (OpenedMessage | UnreadableMessage)[]): Promise<InboxEntry[]> {
    const opened = all.filter((one) => isOpened(one));
    const hasReceipts = opened.some(({ message, trust }) => {
      return trust.trust === "verified" && listReceipts(message).length > 0;
    });
    const receipts = hasReceipts ? receiptsAmong(opened, await this.outbox().sent(), this.keys) : [];
    return all.map((one) => (isOpened(one) ? { ...one, receipts: receipts.filter(({ id }) => id === one.id) } : one));
  }

  /** Never the inbox of another key: on some brokers reading deletes messages. PROTOCOL 3.4 */
  async #publishedInbox(): Promise<string> {
    const { address, identity } = this.author;
    const todo = `If your site has no inbox yet, give it the option key: "${identity.publicKey}", build and deploy.`;
    const explain = ({ message }: TwtxtError) => `${message} Your inbox is looked up there. ${todo}`;
    const { key, endpoint } = await this.lookup(address).catch(reworded(explain));
    if (key === identity.publicKey) return endpoint;
    throw new TwtxtError(
      "key-changed",
      `${address} has published a key that is not the one on this machine, so its inbox was not read. Give the site the option key: "${identity.publicKey}", build and deploy.`,
    );
  }
}

/**
 * Blocks a sender, whose messages are then deleted when they are opened.
 *
 * @param signer - the key that signed one of their messages; default: the known key of the address
 * @throws TwtxtError `bad-usage` for the author's own address
 */
export async function blockSender(address: string, mailbox: Mailbox, signer?: string): Promise<Outcome> {
  const { author, contacts, blocked, now } = mailbox;
  if (address === author.address) throw new TwtxtError("bad-usage", "You cannot block your own address.");
  const key = signer ?? readGuestKey(address) ?? (await contacts.get(address))?.key ?? null;
  await blocked.write(address, { address, key, since: formatTimestamp(now()) });
  return {
    text: `${shownAddress(address)} is blocked. New messages from this sender are deleted when they are opened.`,
    undo: () => unblockSender(address, mailbox),
  };
}

export async function unblockSender(address: string, { blocked }: Mailbox): Promise<Outcome> {
  const sender = shownAddress(address);
  if (!(await blocked.forget(address))) return { text: `${sender} was not blocked.`, isFailure: true };
  return { text: `${sender} is no longer blocked. Deleted messages do not come back.` };
}

/**
 * Replaces the known key of an address with the published one.
 *
 * @param key - the only key to accept; `null` for any
 * @returns also the contact now and before, `null` if the address was not one
 * @throws TwtxtError `key-changed` for another key, or one that was found only through DNS
 */
export async function acceptKey(
  address: string,
  key: string | null,
  mailbox: Mailbox,
): Promise<Outcome & { contact: Contact; old: Contact | null }> {
  const { pinned, found } = await mailbox.compareKey(address);
  if (key !== null && key !== found.key) {
    const what = `${address} has published a different key, ${found.key}. Nothing was changed.`;
    throw new TwtxtError("key-changed", what);
  }
  const contact = await mailbox.contacts.accept(found);
  const done = pinned?.key === contact.key ? "already know" : "have accepted";
  return { contact, old: pinned, text: `You ${done} this key of ${address}.` };
}

export const NOTHING_TO_RETRY = "The outbox has nothing to retry.";

export async function discardMessage({ id, recipients }: OutboxEntry, mailbox: Mailbox): Promise<Outcome> {
  await mailbox.outbox().discard(id);
  const others = recipients.filter(({ state }) => state !== "delivered").map(({ address }) => shownAddress(address));
  return { text: `Discarded. Not delivered to ${others.join(", ")}.` };
}

export function hasFailed(reports: readonly Pick<RecipientReport, "state">[]): boolean {
  return reports.some(({ state }) => state === "failed");
}

/** Why a message is not delivered, a clause. */
export function describeDelay({ why }: Pick<RecipientReport, "why">): string {
  return why ?? "delivery is in progress";
}
