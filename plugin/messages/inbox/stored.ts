// plugin/messages/inbox/stored.ts: the sealed messages of an inbox, as they are stored.
//
// - `inbox/<user>/messages/<created>-<id>-<size>` holds a body as it was received. The key tells all the rest, so that one
//   look at the keys answers what is there. Nobody changes what another has written.
// - `inbox/<user>/deleted/<period>/<id>` remembers that a message was deleted, for 90 days and what is left of a period.
//
// Of one message that two deliveries store at once two keys may be left. The earlier one counts.

import PQueue from "p-queue";
import type { Clock } from "../../clock.js";
import type { Store } from "../../store/store.js";

const DAY_MS = 24 * 3600_000;
/** Ids of deleted messages are kept for three periods after the one in which they were deleted. PROTOCOL 3.3. */
const PERIOD_MS = 30 * DAY_MS;
const PERIODS_KEPT = 3;
/** Messages that one step of sweeping deletes. */
const BATCH = 50;
const AT_ONCE = 16;
/** Fifteen digits, so that keys stand in the order of time. */
const MESSAGE = /\/(\d{15})-([0-9a-f]{64})-(\d{1,9})$/;

/** A message as its key tells of it. */
export interface StoredMessage {
  key: string;
  /** SHA-256 of the message's canonical form, in lower-case hex; see `canonicalForm`. */
  id: string;
  /** When it was stored, in milliseconds since 1970. */
  created: number;
  /** Of the body as it was received, in bytes. */
  size: number;
}

/** The messages of all users. Each change is durable when it returns. */
export interface StoredMessages {
  /** Each message once, oldest first. Costs one look at the keys. */
  all(user: string): Promise<StoredMessage[]>;
  /** The bodies as they were received, in this order; `null` for what was deleted meanwhile. */
  bodies(messages: readonly StoredMessage[]): Promise<(Uint8Array | null)[]>;
  wasDeleted(user: string, id: string): Promise<boolean>;
  /** Stores a message; one that is deleted while this runs stays deleted. */
  keep(user: string, id: string, body: Uint8Array): Promise<void>;
  delete(user: string, ids: readonly string[]): Promise<void>;
  /**
   * Deletes messages that are older than `retentionDays`, clears away what is there twice or was brought back, and forgets
   * ids that were deleted long ago.
   *
   * @param isOver - nothing more is started once this holds
   */
  sweep(user: string, retentionDays: number | null, isOver: () => boolean): Promise<void>;
}

export function storedMessages(store: Store, now: Clock): StoredMessages {
  const period = () => Math.floor(now() / PERIOD_MS);
  const inBatches = <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> =>
    new PQueue({ concurrency: AT_ONCE }).addAll(items.map((item) => () => work(item)));
  const copies = async (user: string) => parsed(await store.keys(messageFolder(user)));

  const wasDeleted = async (user: string, id: string) => {
    const periods = Array.from({ length: PERIODS_KEPT + 1 }, (_, back) => period() - back);
    const found = await Promise.all(periods.map((one) => store.get(deletedKey(user, one, id))));
    return found.some((stored) => stored !== null);
  };

  const remove = async (user: string, ids: readonly string[]) => {
    const isMeant = new Set(ids);
    await inBatches(ids, (id) => store.put(deletedKey(user, period(), id), Buffer.from(new Date(now()).toISOString())));
    // Only now: who stores a copy after this finds the id among the deleted ones.
    const meant = (await copies(user)).filter(({ id }) => isMeant.has(id));
    await inBatches(meant, ({ key }) => store.delete(key));
  };

  return {
    all: async (user) => eachOnce(await copies(user)),

    bodies: (messages) => inBatches(messages, async ({ key }) => (await store.get(key))?.bytes ?? null),

    wasDeleted,

    async keep(user, id, body) {
      const key = messageKey(user, now(), id, body.length);
      await store.put(key, body);
      if (await wasDeleted(user, id)) await store.delete(key);
    },

    delete: remove,

    async sweep(user, retentionDays, isOver) {
      const oldest = retentionDays === null ? 0 : now() - retentionDays * DAY_MS;
      const old = eachOnce(await copies(user)).filter(({ created }) => created < oldest);
      for (let start = 0; start < old.length && !isOver(); start += BATCH) {
        await remove(
          user,
          old.slice(start, start + BATCH).map(({ id }) => id),
        );
      }
      const deleted = (await store.keys(deletedFolder(user))).map((key) => ({ key, ...partsOfDeleted(key) }));
      const isForgotten = (one: { period: number }) => one.period < period() - PERIODS_KEPT;
      const remembered = new Set(deleted.filter((one) => !isForgotten(one)).map(({ id }) => id));
      const spare = spareOf(await copies(user), remembered);
      for (const { key } of [...spare, ...deleted.filter(isForgotten)]) {
        if (isOver()) return;
        await store.delete(key);
      }
    },
  };
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

function partsOfDeleted(key: string): { period: number; id: string } {
  const [period, id = ""] = key.split("/").slice(-2);
  return { period: Number(period), id };
}

/** All copies, oldest first. */
function parsed(keys: readonly string[]): StoredMessage[] {
  return keys.toSorted().flatMap((key) => {
    const [, created, id, size] = MESSAGE.exec(key) ?? [];
    return id === undefined ? [] : [{ key, id, created: Number(created), size: Number(size) }];
  });
}

function eachOnce(copies: readonly StoredMessage[]): StoredMessage[] {
  const seen = new Set<string>();
  return copies.filter(({ id }) => seen.size < seen.add(id).size);
}

function spareOf(copies: readonly StoredMessage[], deleted: ReadonlySet<string>): StoredMessage[] {
  const first = new Set(eachOnce(copies));
  return copies.filter((copy) => deleted.has(copy.id) || !first.has(copy));
}
