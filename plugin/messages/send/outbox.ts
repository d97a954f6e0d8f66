// plugin/messages/send/outbox.ts: what was sealed and is on its way, kept until every recipient has it.
import PQueue from "p-queue";
import type * as v from "valibot";
import { readJson, update, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { type DeliveryNetwork, deliver } from "./deliver.js";
import {
  copyOf,
  EntryRecord,
  isDone,
  isDue,
  newEntry,
  type OutboxEntry,
  type Outgoing,
  type Recipient,
  type SentCopy,
  SentRecord,
  settled,
  takenInHand,
} from "./outbox-entry.js";

/** How it stands with one recipient of one message. */
export interface RecipientReport extends Recipient {
  /** Of the message. */
  id: string;
}

export interface OutboxOptions extends DeliveryNetwork {
  /** The author's own. */
  store: Store;
  /** 0 up to, not including, 1. */
  random(): number;
  /** Told of each recipient once its attempt is over and written down. */
  onResult?(report: RecipientReport): void;
}

/** How many inboxes are written to at once. */
const CONCURRENCY = 4;

/**
 * The outbox in a store, which other processes may use at the same time. All methods throw TwtxtError `store-failed`.
 *
 * @see PROTOCOL 3.2, 3.3, 2.3
 */
export class Outbox {
  readonly #options: OutboxOptions;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /**
   * Stores a message, then delivers it. A process that is killed in between loses nothing; at worst the message is
   * delivered again, and receivers keep one.
   *
   * @returns a report for each recipient
   */
  async send(outgoing: Outgoing): Promise<RecipientReport[]> {
    const { store, now } = this.#options;
    const entry = newEntry(outgoing, now());
    await writeJson(store, keyOf(entry.id), entry, { isNew: true });
    return attempt(entry, entry.recipients, { ...this.#options, silent: new Set() });
  }

  /**
   * Delivers what is due. An inbox that does not answer is not asked again in this run.
   *
   * @param all - also what is not due yet, and what was given up
   * @returns a report for each recipient that was tried
   */
  async retry({ all }: { all: boolean }): Promise<RecipientReport[]> {
    const { store, now } = this.#options;
    const reports: RecipientReport[] = [];
    const silent = new Set<string>();
    const isWanted = (recipient: Recipient) => !silent.has(recipient.endpoint) && isDue(recipient, all, now());
    for (const { id } of await this.list()) {
      let taken: Recipient[] = [];
      const entry = await update(store, keyOf(id), EntryRecord, (old) => {
        const hand = old && takenInHand(old, isWanted, now());
        taken = hand?.taken ?? [];
        return taken.length > 0 && hand ? hand.entry : null;
      });
      if (entry) reports.push(...(await attempt(entry, taken, { ...this.#options, silent })));
    }
    return reports;
  }

  /** Messages that have not reached every recipient yet, oldest first. */
  list(): Promise<OutboxEntry[]> {
    return readAll(this.#options.store, "outbox/", EntryRecord);
  }

  /** Gives a message up; the copy for the recipients who have it stays. @returns whether it was there */
  async discard(id: string): Promise<boolean> {
    const { store } = this.#options;
    const stored = await readJson(store, keyOf(id), EntryRecord);
    if (stored) await close(store, stored.value);
    return stored !== null;
  }

  /** Copies of messages that were delivered to someone, oldest first. */
  async sent(): Promise<SentCopy[]> {
    // In this order, so that what moves from one place to the other meanwhile is not missed.
    const entries = await this.list();
    const copies = await readAll(this.#options.store, "sent/", SentRecord);
    const known = new Set(copies.map(({ id }) => id));
    const partly = entries.filter(({ id }) => !known.has(id)).flatMap((entry) => copyOf(entry) ?? []);
    return [...copies, ...partly].sort(byAge);
  }
}

/** An attempt notes the inboxes that do not answer. */
type AttemptOptions = OutboxOptions & { silent: Set<string> };

/** Delivers to each inbox once, however many recipients share it, and closes the entry where everybody has it. */
async function attempt(
  entry: OutboxEntry,
  recipients: readonly Recipient[],
  options: AttemptOptions,
): Promise<RecipientReport[]> {
  const queue = new PQueue({ concurrency: CONCURRENCY });
  const inboxes = new Set(recipients.map(({ endpoint }) => endpoint));
  const reports = await Promise.allSettled(
    [...inboxes].map((inbox) => {
      const sharing = recipients.filter(({ endpoint }) => endpoint === inbox);
      return queue.add(() => attemptInbox(entry, inbox, sharing, options));
    }),
  );
  const failed = reports.find((report) => report.status === "rejected");
  if (failed) throw failed.reason;
  const stored = await readJson(options.store, keyOf(entry.id), EntryRecord);
  if (stored && isDone(stored.value)) await close(options.store, stored.value);
  return reports.flatMap((report) => (report.status === "fulfilled" ? report.value : []));
}

async function attemptInbox(
  { id, sealed }: OutboxEntry,
  endpoint: string,
  sharing: readonly Recipient[],
  { store, ask, now, random, onResult, silent }: AttemptOptions,
): Promise<RecipientReport[]> {
  const delivery = await deliver(endpoint, sealed, { ask, now });
  if (delivery.outcome === "unavailable" && delivery.status === null) silent.add(endpoint);
  const tried = new Set(sharing.map(({ address }) => address));
  const after = (recipient: Recipient) =>
    tried.has(recipient.address) ? settled(recipient, delivery, now(), random) : recipient;
  const entry = await update(store, keyOf(id), EntryRecord, (old) => {
    return old && { ...old, recipients: old.recipients.map(after) };
  });
  // Where another process has closed the entry, this one knows all the same what it has seen.
  const known = entry?.recipients.filter(({ address }) => tried.has(address)) ?? sharing.map(after);
  const reports = known.map((recipient) => ({ id, ...recipient }));
  for (const report of reports) onResult?.(report);
  return reports;
}

async function close(store: Store, entry: OutboxEntry): Promise<void> {
  const copy = copyOf(entry);
  if (copy) await writeJson(store, `sent/${entry.id}`, copy);
  await store.delete(keyOf(entry.id));
}

async function readAll<T extends { created: string; id: string }>(
  store: Store,
  folder: string,
  schema: v.GenericSchema<unknown, T>,
): Promise<T[]> {
  const keys = await store.keys(folder);
  const stored = await Promise.all(keys.map((key) => readJson(store, key, schema)));
  return stored.flatMap((one) => one?.value ?? []).sort(byAge);
}

function byAge(a: { created: string; id: string }, b: { created: string; id: string }): number {
  return `${a.created}${a.id}` < `${b.created}${b.id}` ? -1 : 1;
}

function keyOf(id: string): string {
  return `outbox/${id}`;
}
