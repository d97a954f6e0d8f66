// plugin/messages/inbox/stored.ts: the stored messages of the inboxes.
//
// - `inbox/<user>/messages/<created>-<id>-<size>` holds a body as received. The key has everything else, so messages are
//   listed without reading records. Records are never changed.
// - `inbox/<user>/deleted/<created>-<id>-<period>` records a deletion for 90 days and the rest of the period. Later messages
//   must have a later time than the deleted one, too.
//
// The time `created` has fifteen digits, so that keys sort by time. Two processes that store a message at the same moment may
// leave two records. The earlier one counts.
import { type Clock, countedSince, DAY, type JobRun } from "../../clock.js";
import { mapInParallel } from "../../concurrency.js";
import { parseEntry, type Store } from "../../store/store.js";
import { sweep } from "../../store/sweep.js";

/** Deletions are remembered for three more periods. PROTOCOL 3.3 */
const PERIOD_MS = 30 * DAY;
const PERIODS_KEPT = 3;
/** Messages deleted in one step of a sweep. */
const BATCH = 50;
const AT_ONCE = 16;

export interface StoredMessage {
  key: string;
  /** SHA-256 of the message's canonical form, in lower-case hex; see `canonicalForm`. */
  id: string;
  /** When it was stored, in milliseconds since 1970. */
  created: number;
  /** Size of the body as received, in bytes. */
  size: number;
}

/** The position of a message in an inbox, ordered by time, then by ID. */
export type Place = Pick<StoredMessage, "created" | "id">;

/** What the store knows about an inbox before a message is stored there. */
export interface InboxState {
  /** Whether the message is stored, or was deleted. */
  isKnown: boolean;
  count: number;
  /** Size of all messages. */
  bytes: number;
  /** The latest time of a message, also of a deleted one; 0 for none. */
  newest: number;
}

/** The messages of all users. Changes are durable when they return. */
export class StoredMessages {
  constructor(
    private readonly store: Store,
    private readonly now: Clock,
  ) {}

  /** Lists each message once, oldest first, from the keys in the store. */
  async all(user: string): Promise<StoredMessage[]> {
    return withoutCopies(parseMessages((await this.store.keys(messageFolder(user))).sort()));
  }

  /**
   * The messages after a place, which need not be that of a stored message: at most so many, and whether there are more.
   *
   * @param after - `null` for the first ones
   * @param isReversed - from the newest to the oldest
   */
  async list(
    user: string,
    { after, limit, isReversed = false }: { after: Place | null; limit: number; isReversed?: boolean },
  ): Promise<{ page: StoredMessage[]; isMore: boolean }> {
    const folder = messageFolder(user);
    // A dot sorts after the hyphen before the size.
    const end = isReversed ? "" : ".";
    const start = after === null ? undefined : `${folder}${toOrder(after.created)}-${after.id}${end}`;
    const keys = await this.store.list(folder, { after: start, limit: limit + 1, isReversed });
    return { page: withoutCopies(parseMessages(keys.slice(0, limit))), isMore: keys.length > limit };
  }

  /** As {@link list}, those whose IDs start with a text, oldest first. Reads the keys of all messages. */
  async findByPrefix(user: string, prefix: string, { after, limit }: { after: Place | null; limit: number }) {
    const toPlace = ({ created, id }: Place) => `${toOrder(created)}-${id}`;
    const isWanted = (message: Place) =>
      message.id.startsWith(prefix) && (after === null || toPlace(message) > toPlace(after));
    const found = (await this.all(user)).filter(isWanted);
    return { page: found.slice(0, limit), isMore: found.length > limit };
  }

  /** @param id - of a message that may arrive */
  async survey(user: string, id: string): Promise<InboxState> {
    const [stored, deleted] = await Promise.all([
      this.store.survey(messageFolder(user), id),
      this.store.survey(deletedFolder(user), id),
    ]);
    return {
      // Until the next sweep, an outdated deletion counts: this clock may have jumped.
      isKnown: stored.found.length + deleted.found.length > 0,
      count: stored.count,
      bytes: stored.sum,
      newest: Math.max(toCreated(stored.last), toCreated(deleted.last)),
    };
  }

  /** Reads bodies as received, in this order; `null` for deleted messages. */
  bodies(messages: readonly StoredMessage[]): Promise<(Uint8Array | null)[]> {
    return mapInParallel(messages, AT_ONCE, async ({ key }) => (await this.store.get(key))?.bytes ?? null);
  }

  /** @returns `"deleted"` if its deletion is remembered, `null` for an unknown message */
  async find(user: string, id: string): Promise<StoredMessage | "deleted" | null> {
    const [copy] = await this.#findCopies(user, id);
    if (copy) return copy;
    const { found } = await this.store.survey(deletedFolder(user), id);
    if (found.some((key) => this.#countPeriods(key, 0) <= PERIODS_KEPT)) return "deleted";
    // Another process may have stored it a moment ago.
    return (await this.all(user)).find((message) => message.id === id) ?? null;
  }

  /** Stores a message. If another process has stored or deleted it since {@link survey}, that remains. */
  async keep(user: string, { created, id }: Place, body: Uint8Array): Promise<void> {
    const key = `${messageFolder(user)}${toOrder(created)}-${id}-${body.length}`;
    await this.store.put(key, body, { isNew: true });
    const [copies, deleted] = await Promise.all([
      this.#findCopies(user, id),
      this.store.survey(deletedFolder(user), id),
    ]);
    const extra = deleted.found.length > 0 ? [key] : copies.slice(1).map((copy) => copy.key);
    await mapInParallel(extra, AT_ONCE, (one) => this.store.delete(one));
  }

  async delete(user: string, messages: readonly StoredMessage[]): Promise<void> {
    await mapInParallel(messages, AT_ONCE, async ({ id, created }) => {
      const latest = (await this.#findCopies(user, id)).at(-1)?.created ?? created;
      await this.store.put(`${deletedFolder(user)}${toOrder(latest)}-${id}-${toPeriod(this.now())}`, new Uint8Array());
      // Searched again: a copy that is stored from here on finds its ID among the deleted ones.
      const keys = new Set(
        [...(await this.#findCopies(user, id)), ...messages.filter((one) => one.id === id)].map(({ key }) => key),
      );
      await mapInParallel([...keys], AT_ONCE, (key) => this.store.delete(key));
    });
  }

  /**
   * Deletes messages older than `retentionDays`, extra copies, copies of deleted messages, and outdated records of deletions.
   *
   * @param keys - of one inbox
   * @param retentionDays - `null` for no limit
   */
  async sweep(user: string, keys: readonly string[], retentionDays: number | null, run: JobRun): Promise<void> {
    const { isOver, steadySince } = run;
    const oldest = retentionDays === null ? 0 : this.now() - retentionDays * DAY;
    const copies = parseMessages(keys.toSorted());
    const old = withoutCopies(copies).filter(({ created }) => countedSince(created, steadySince) < oldest);
    for (let start = 0; start < old.length && !isOver(); start += BATCH) {
      await this.delete(user, old.slice(start, start + BATCH));
    }
    const deleted = keys.filter((key) => key.startsWith(deletedFolder(user)));
    const isOutdated = (key: string) => this.#countPeriods(key, steadySince) > PERIODS_KEPT;
    const remembered = new Set(deleted.filter((key) => !isOutdated(key)).map((key) => parseEntry(key)?.id ?? ""));
    await sweep(this.store, [...extraCopies(copies, remembered), ...deleted.filter(isOutdated)], isOver);
  }

  async #findCopies(user: string, id: string): Promise<StoredMessage[]> {
    return parseMessages((await this.store.survey(messageFolder(user), id)).found);
  }

  /** The periods since a deletion. */
  #countPeriods(key: string, steadySince: number): number {
    const { number = 0 } = parseEntry(key) ?? {};
    return toPeriod(this.now()) - countedSince(number, toPeriod(steadySince));
  }
}

function toPeriod(time: number): number {
  return Math.floor(time / PERIOD_MS);
}

function messageFolder(user: string): string {
  return `inbox/${user}/messages/`;
}

function deletedFolder(user: string): string {
  return `inbox/${user}/deleted/`;
}

/** Fifteen digits, so that keys sort by time. */
function toOrder(created: number): string {
  return String(Math.max(created, 0)).padStart(15, "0");
}

/** The time in a key; 0 for no key. */
function toCreated(key: string | null): number {
  return Number(key?.split("/").at(-1)?.slice(0, 15) ?? 0);
}

/** The messages among these keys, with their copies, in their order. */
function parseMessages(keys: readonly string[]): StoredMessage[] {
  return keys.flatMap((key) => {
    const entry = parseEntry(key);
    if (!entry?.folder.endsWith("/messages/")) return [];
    return [{ key, id: entry.id, created: toCreated(key), size: entry.number }];
  });
}

function withoutCopies(copies: readonly StoredMessage[]): StoredMessage[] {
  const seen = new Set<string>();
  return copies.filter(({ id }) => seen.size < seen.add(id).size);
}

function extraCopies(copies: readonly StoredMessage[], deleted: ReadonlySet<string>): string[] {
  const first = new Set(withoutCopies(copies));
  return copies.filter((copy) => deleted.has(copy.id) || !first.has(copy)).map(({ key }) => key);
}
