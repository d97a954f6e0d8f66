// plugin/messages/inbox/stored.ts: the stored messages of the inboxes.
//
// - `inbox/<user>/messages/<created>-<id>-<size>` holds a body as received. The key has everything else, so messages are
//   listed without reading records. Records are never changed.
// - `inbox/<user>/deleted/<period>/<id>` records a deletion for 90 days and the rest of the period. For the newest message, a
//   second key ends in `-<created>`: later messages must have a later time, see `#timeOfNext`.
//
// Concurrent deliveries of a message may leave two records. The earlier one counts.

import PQueue from "p-queue";
import { type Clock, countedSince } from "../../clock.js";
import { type CountedKey, createListings, type KeyListing } from "../../store/key-listing.js";
import type { Store } from "../../store/store.js";

const DAY_MS = 24 * 3600_000;
/** Deletions are remembered for three more periods. PROTOCOL 3.3 */
const PERIOD_MS = 30 * DAY_MS;
const PERIODS_KEPT = 3;
/** Longer than {@link StoredMessages.recent} may miss a deletion by another process. */
const RECENT_MS = 60_000;
/** Age of a listing from which the time of a new message is taken. */
const FRESH_MS = 100;
/** Messages deleted in one step of a sweep. */
const BATCH = 50;
const AT_ONCE = 16;
/** Fifteen digits, so that keys sort by time. */
const MESSAGE = /\/(\d{15})-([0-9a-f]{64})-(\d{1,9})$/;

/** A message as described by its key. */
export interface StoredMessage {
  key: string;
  /** SHA-256 of the message's canonical form, in lower-case hex; see `canonicalForm`. */
  id: string;
  /** When it was stored, in milliseconds since 1970. */
  created: number;
  /** Size of the body as received, in bytes. */
  size: number;
}

/** A record of a deletion. */
interface DeletedId {
  key: string;
  id: string;
  /** When it was deleted. */
  period: number;
  /** The time of the message, if it was the newest of its inbox; otherwise 0. */
  created: number;
}

/** Inboxes to sweep. */
interface SweptInboxes {
  prefix: string;
  /** Whether the inbox of this user is one of them. */
  isIncluded(user: string): boolean;
  /** `null` for no limit. */
  retentionDays: number | null;
}

/** A run that removes what has expired. */
export interface SweepRun {
  /** When true, nothing more is started. */
  isOver(): boolean;
  /** When the clock last jumped, in milliseconds since 1970. Nothing is counted from an earlier time. */
  steadySince: number;
}

/** The messages of all users. Changes are durable when they return. */
export class StoredMessages {
  readonly #store: Store;
  readonly #now: Clock;
  readonly #messagesOf: (user: string) => KeyListing;
  readonly #deletedOf: (user: string) => KeyListing;

  constructor(store: Store, now: Clock) {
    this.#store = store;
    this.#now = now;
    this.#messagesOf = createListings((user) => ({ store, now, prefix: messageFolder(user), parse: countedMessage }));
    this.#deletedOf = createListings((user) => ({ store, now, prefix: deletedFolder(user), parse: countedDeletion }));
  }

  /** Lists each message once, oldest first, from the keys in the store. */
  async all(user: string): Promise<StoredMessage[]> {
    return withoutCopies(await this.#copies(user));
  }

  /**
   * A count of the messages, in groups by id, and whether the message with this id is stored or was deleted. Changes by other
   * processes may be missing for two seconds.
   */
  async recent(user: string, id: string): Promise<{ stored: KeyListing; isKnown: boolean }> {
    const [stored, deleted] = [this.#messagesOf(user), this.#deletedOf(user)];
    await Promise.all([stored.refresh(), deleted.refresh()]);
    // Until the next sweep, an outdated deletion counts: this clock may have jumped.
    return { stored, isKnown: stored.has(id) || deleted.has(id) };
  }

  /** Reads bodies as received, in this order; `null` for deleted messages. */
  bodies(messages: readonly StoredMessage[]): Promise<(Uint8Array | null)[]> {
    return inBatches(messages, async ({ key }) => (await this.#store.get(key))?.bytes ?? null);
  }

  async wasDeleted(user: string, id: string): Promise<boolean> {
    const periods = Array.from({ length: PERIODS_KEPT + 1 }, (_, back) => this.#period() - back);
    return this.#isAnyStored(periods.map((period) => deletedKey(user, period, id)));
  }

  /** Stores a message. One that is being deleted, or was deleted since {@link recent}, stays deleted. */
  async keep(user: string, id: string, body: Uint8Array): Promise<void> {
    const key = messageKey(user, await this.#timeOfNext(user), id, body.length);
    await this.#store.put(key, body, { isNew: true });
    this.#messagesOf(user).add(key);
    const periods = new Set([this.#period(), toPeriod(this.#now() - RECENT_MS)]);
    const deleted = [...periods].map((period) => deletedKey(user, period, id));
    if (await this.#isAnyStored(deleted)) await this.#deleteMessage(user, key);
  }

  /**
   * The time of a new message: later than all others, so that a reader who asks for what came after a message gets it, whatever
   * the clocks of this and other machines say.
   */
  async #timeOfNext(user: string): Promise<number> {
    const [stored, deleted] = [this.#messagesOf(user), this.#deletedOf(user)];
    // Another machine whose clock is ahead may have stored a message since the listing for the limits.
    await Promise.all([stored.refresh(FRESH_MS), deleted.refresh(FRESH_MS)]);
    const time = Math.max(this.#now(), stored.newest + 1, deleted.newest + 1);
    stored.noteTime(time);
    return time;
  }

  async delete(user: string, ids: readonly string[]): Promise<void> {
    const time = Buffer.from(new Date(this.#now()).toISOString());
    await inBatches(ids, async (id) => {
      const key = deletedKey(user, this.#period(), id);
      await this.#store.put(key, time);
      this.#deletedOf(user).add(key);
    });
    // Listed only now: a copy that is stored later finds its id among the deleted ones.
    const copies = await this.#copies(user);
    const newest = copies.at(-1);
    if (newest && ids.includes(newest.id)) await this.#noteNewest(user, newest);
    const wanted = copies.filter(({ id }) => ids.includes(id));
    await inBatches(wanted, ({ key }) => this.#deleteMessage(user, key));
  }

  async #noteNewest(user: string, { id, created }: StoredMessage): Promise<void> {
    const key = `${deletedKey(user, this.#period(), id)}-${created}`;
    await this.#store.put(key, new Uint8Array());
    this.#deletedOf(user).add(key);
  }

  /**
   * Deletes messages older than `retentionDays`, extra copies, copies of deleted messages, and outdated ids of deleted
   * messages, in the inboxes of some users. An inbox without such costs no request.
   *
   * @param prefix - the start of their names, or a whole name with a slash at its end
   */
  async sweep({ prefix, isIncluded, retentionDays }: SweptInboxes, run: SweepRun): Promise<void> {
    const keysByUser = new Map<string, string[]>();
    for (const key of await this.#store.keys(`inbox/${prefix}`)) {
      const user = key.split("/")[1] ?? "";
      if (!isIncluded(user)) continue;
      const keys = keysByUser.get(user);
      if (keys) keys.push(key);
      else keysByUser.set(user, [key]);
    }
    for (const [user, keys] of keysByUser) await this.#sweepInbox(user, keys, retentionDays, run);
  }

  async #sweepInbox(
    user: string,
    keys: readonly string[],
    retentionDays: number | null,
    { isOver, steadySince }: SweepRun,
  ): Promise<void> {
    const oldest = retentionDays === null ? 0 : this.#now() - retentionDays * DAY_MS;
    const copies = parseCopies(keys);
    const old = withoutCopies(copies).filter(({ created }) => countedSince(created, steadySince) < oldest);
    for (let start = 0; start < old.length && !isOver(); start += BATCH) {
      const ids = old.slice(start, start + BATCH).map(({ id }) => id);
      await this.delete(user, ids);
    }
    const deleted = keys.filter((key) => key.startsWith(deletedFolder(user))).map(partsOfDeleted);
    const isOutdated = ({ period }: DeletedId) =>
      countedSince(period, toPeriod(steadySince)) < this.#period() - PERIODS_KEPT;
    const outdated = deleted.filter(isOutdated);
    const remembered = new Set(deleted.filter((one) => !isOutdated(one)).map(({ id }) => id));
    for (const { key } of [...extraCopies(copies, remembered), ...outdated]) {
      if (isOver()) return;
      await this.#store.delete(key);
    }
  }

  async #isAnyStored(keys: readonly string[]): Promise<boolean> {
    const values = await Promise.all(keys.map((key) => this.#store.get(key)));
    return values.some((value) => value !== null);
  }

  async #deleteMessage(user: string, key: string): Promise<void> {
    await this.#store.delete(key);
    this.#messagesOf(user).delete(key);
  }

  async #copies(user: string): Promise<StoredMessage[]> {
    return parseCopies(await this.#store.keys(messageFolder(user)));
  }

  #period(): number {
    return toPeriod(this.#now());
  }
}

function toPeriod(time: number): number {
  return Math.floor(time / PERIOD_MS);
}

function inBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  return new PQueue({ concurrency: AT_ONCE }).addAll(items.map((item) => () => work(item)));
}

function messageFolder(user: string): string {
  return `inbox/${user}/messages/`;
}

function messageKey(user: string, created: number, id: string, size: number): string {
  return `${messageFolder(user)}${String(created).padStart(15, "0")}-${id}-${size}`;
}

function deletedFolder(user: string): string {
  return `inbox/${user}/deleted/`;
}

function deletedKey(user: string, period: number, id: string): string {
  return `${deletedFolder(user)}${period}/${id}`;
}

/** What limits count of the key of a message. @returns `null` for another key */
export function countedMessage(key: string): CountedKey | null {
  const message = parseKey(key);
  return message && { group: message.id, size: message.size, time: message.created };
}

function countedDeletion(key: string): CountedKey {
  const { id, created } = partsOfDeleted(key);
  return { group: id, size: 0, time: created };
}

function partsOfDeleted(key: string): DeletedId {
  const [period, name = ""] = key.split("/").slice(-2);
  const [id = "", created = 0] = name.split("-");
  return { key, id, period: Number(period), created: Number(created) };
}

function parseKey(key: string): StoredMessage | null {
  const [, created, id, size] = MESSAGE.exec(key) ?? [];
  return id === undefined ? null : { key, id, created: Number(created), size: Number(size) };
}

/** The messages among these keys, with their copies, oldest first. */
function parseCopies(keys: readonly string[]): StoredMessage[] {
  return keys.toSorted().flatMap((key) => parseKey(key) ?? []);
}

function withoutCopies(copies: readonly StoredMessage[]): StoredMessage[] {
  const seen = new Set<string>();
  return copies.filter(({ id }) => seen.size < seen.add(id).size);
}

function extraCopies(copies: readonly StoredMessage[], deleted: ReadonlySet<string>): StoredMessage[] {
  const first = new Set(withoutCopies(copies));
  return copies.filter((copy) => deleted.has(copy.id) || !first.has(copy));
}
