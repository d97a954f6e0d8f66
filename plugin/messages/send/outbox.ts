// plugin/messages/send/outbox.ts: stores sealed messages until every recipient has them.
import type { Clock } from "../../clock.js";
import { mapInParallel } from "../../concurrency.js";
import { groupBy } from "../../groups.js";
import type { Ask } from "../../http/guard.js";
import { type PostResult, post } from "../../http/post.js";
import { type Signer, signRequest } from "../../http/sign-request.js";
import { Collection } from "../../store/collection.js";
import type { Store } from "../../store/store.js";
import {
  afterAttempt,
  claimRecipients,
  EntryRecord,
  isDone,
  isDue,
  newEntry,
  type OutboxEntry,
  type Outgoing,
  type Recipient,
  type SentCopy,
  SentRecord,
  toSentCopy,
} from "./outbox-entry.js";

/** The delivery state of one recipient of a message. */
export interface RecipientReport extends Recipient {
  id: string;
}

interface OutboxOptions {
  store: Store;
  ask: Ask;
  now: Clock;
  /** 0 up to, not including, 1. */
  random(): number;
  /** The key that signs deliveries to an address; `null` for an inbox where anyone may deliver. Default: no key. */
  chooseSigner?(address: string): Signer | null;
  /** Called for each recipient once its attempt is recorded. */
  onResult?(report: RecipientReport): void;
}

const CONCURRENCY = 4;

/**
 * The outbox in a store, which other processes may use at the same time. All methods throw TwtxtError `store-failed`.
 *
 * @see PROTOCOL 3.2, 3.3, 2.3
 */
export class Outbox {
  readonly #entries: Collection<OutboxEntry>;
  readonly #copies: Collection<SentCopy>;

  constructor(private readonly options: OutboxOptions) {
    this.#entries = new Collection(options.store, "outbox/", EntryRecord);
    this.#copies = new Collection(options.store, "sent/", SentRecord);
  }

  /**
   * Stores a message, then delivers it. If the process is killed in between, the message is delivered again later;
   * receivers ignore repeats.
   *
   * @returns a report for each recipient
   */
  async send(outgoing: Outgoing): Promise<RecipientReport[]> {
    const entry = newEntry(outgoing, this.options.now());
    await this.#entries.write(entry.id, entry, { isNew: true });
    return this.#attempt(entry, entry.recipients, new Set());
  }

  /**
   * Retries due deliveries. An inbox that does not answer is skipped for the rest of the run.
   *
   * @param all - includes recipients that are not due yet or were given up
   * @returns a report for each attempted recipient
   */
  async retry({ all }: { all: boolean }): Promise<RecipientReport[]> {
    const { now } = this.options;
    const reports: RecipientReport[] = [];
    const silent = new Set<string>();
    const isWanted = (recipient: Recipient) => !silent.has(recipient.endpoint) && isDue(recipient, all, now());
    for (const { id } of await this.list()) {
      let taken: Recipient[] = [];
      const entry = await this.#entries.update(id, (old) => {
        const claim = old && claimRecipients(old, isWanted, now());
        taken = claim?.taken ?? [];
        return taken.length > 0 && claim ? claim.entry : null;
      });
      if (entry) reports.push(...(await this.#attempt(entry, taken, silent)));
    }
    return reports;
  }

  /** Messages that have not reached every recipient yet, oldest first. */
  async list(): Promise<OutboxEntry[]> {
    return (await this.#entries.list()).sort(byAge);
  }

  /** Gives up a message, and keeps a copy if some recipients have it. @returns whether it was in the outbox */
  async discard(id: string): Promise<boolean> {
    const entry = await this.#entries.get(id);
    if (entry) await this.#close(entry);
    return entry !== null;
  }

  /**
   * Copies of messages that at least one recipient has, oldest first.
   *
   * @param known - ids of messages that are not needed; those that all recipients have are not read
   */
  async sent(known: ReadonlySet<string> = new Set()): Promise<SentCopy[]> {
    // In this order, so that an entry that becomes a copy meanwhile is not missed.
    const entries = await this.list();
    const copies = await this.#copies.getAll((await this.#copies.ids()).filter((id) => !known.has(id)));
    const ids = new Set([...known, ...copies.map(({ id }) => id)]);
    const partly = entries.filter(({ id }) => !ids.has(id)).flatMap((entry) => toSentCopy(entry) ?? []);
    return [...copies, ...partly].sort(byAge);
  }

  /**
   * Delivers once to each inbox, and closes the entry when all recipients have it.
   *
   * @param silent - gets the inboxes that do not answer
   */
  async #attempt(entry: OutboxEntry, recipients: readonly Recipient[], silent: Set<string>) {
    const inboxes = [...groupBy(recipients, ({ endpoint }) => endpoint)];
    const reports = await mapInParallel(inboxes, CONCURRENCY, ([inbox, sharing]) =>
      this.#attemptInbox(entry, inbox, sharing, silent),
    );
    const stored = await this.#entries.get(entry.id);
    if (stored && isDone(stored)) await this.#close(stored);
    return reports.flat();
  }

  async #attemptInbox(
    { id, sealed }: OutboxEntry,
    endpoint: string,
    sharing: readonly Recipient[],
    silent: Set<string>,
  ): Promise<RecipientReport[]> {
    const { ask, now, random, chooseSigner = () => null, onResult } = this.options;
    const [signer = null] = sharing.flatMap(({ address }) => chooseSigner(address) ?? []);
    const delivery = await deliver(endpoint, sealed, { ask, now, signer });
    if (delivery.outcome === "unavailable" && delivery.status === null) silent.add(endpoint);
    const tried = new Set(sharing.map(({ address }) => address));
    const after = (recipient: Recipient) =>
      tried.has(recipient.address) ? afterAttempt(recipient, delivery, now(), random) : recipient;
    const entry = await this.#entries.update(id, (old) => {
      return old && { ...old, recipients: old.recipients.map(after) };
    });
    // If another process closed the entry, report this attempt's own result.
    const known = entry?.recipients.filter(({ address }) => tried.has(address)) ?? sharing.map(after);
    const reports = known.map((recipient) => ({ id, ...recipient }));
    for (const report of reports) onResult?.(report);
    return reports;
  }

  async #close(entry: OutboxEntry): Promise<void> {
    const copy = toSentCopy(entry);
    if (copy) await this.#copies.write(entry.id, copy);
    await this.#entries.delete(entry.id);
  }
}

/**
 * Posts a sealed message, over https unless the guard allows otherwise.
 *
 * @param sealed - armored
 * @param options - `signer`: signs the request, as a guest's inbox requires; default `null`, an unsigned one
 * @throws what {@link post} throws
 * @see PROTOCOL 3.3, 3.5
 */
export function deliver(
  endpoint: string,
  sealed: string,
  { ask, now, signer = null }: Pick<OutboxOptions, "ask" | "now"> & { signer?: Signer | null },
): Promise<PostResult> {
  const plain = { "content-type": "text/plain; charset=utf-8" };
  const request = { method: "POST", url: endpoint, headers: plain, body: Buffer.from(sealed) };
  const headers = signer ? signRequest(request, signer, now()) : plain;
  return post(ask, endpoint, { headers, body: sealed, isHttpsNeeded: true }, now);
}

function byAge(a: { created: string; id: string }, b: { created: string; id: string }): number {
  return `${a.created}${a.id}` < `${b.created}${b.id}` ? -1 : 1;
}
