// plugin/messages/inbox/daily-shares.ts: limits what one IP address may store in an inbox per day. PROTOCOL 3.3
//
// - `inbox-senders/<day>/<user>/<digest>-<id>-<size>` records a message from this address.
// - `inbox-salts/<day>` is the salt of a day's digests. Once both are deleted, senders cannot be identified.

import { createHmac } from "node:crypto";
import type { Clock } from "../../clock.js";
import { type CountedKey, createListings, type KeyListing } from "../../store/key-listing.js";
import type { Store } from "../../store/store.js";

const SENDERS = "inbox-senders/";
const SALTS = "inbox-salts/";
const RECORD = /\/([0-9a-f]{64})-[0-9a-f]{64}-(\d+)$/;
const SALT_BYTES = 16;
/** One address may fill a tenth of an inbox. PROTOCOL 3.3. */
const SHARES = 10;
/** The key has all the information. */
const NOTHING = new Uint8Array();

interface DailyShareOptions {
  store: Store;
  now: Clock;
  random(length: number): Uint8Array;
  /** Limits of an inbox. */
  limits: { messages: number; bytes: number };
}

interface Day {
  /** `YYYY-MM-DD`. */
  name: string;
  salt: Uint8Array;
  /** The records of a user's inbox, in groups by digest. */
  openListing(user: string): KeyListing;
}

/**
 * Limits what one sender's address may store in an inbox per day. PROTOCOL 3.3.
 *
 * A process sees what others record after up to two seconds, so several processes may exceed the limit by what they accept
 * in that time.
 */
export class DailyShares {
  readonly #options: DailyShareOptions;
  #day: Day | null = null;

  constructor(options: DailyShareOptions) {
    this.#options = options;
  }

  /**
   * Counts a message, so that concurrent deliveries respect the limit. A repeat of a message is counted once.
   *
   * @param address - the client's address; only its digest is stored
   * @param size - in bytes
   * @returns records the message durably; `null` if the share of this address is used up
   */
  async take(
    user: string,
    address: string,
    { id, size }: { id: string; size: number },
  ): Promise<(() => Promise<void>) | null> {
    const { store, limits } = this.#options;
    const day = await this.#today();
    const digest = createHmac("sha256", day.salt).update(address).digest("hex");
    const key = `${SENDERS}${day.name}/${user}/${digest}-${id}-${size}`;
    const listing = day.openListing(user);
    await listing.refresh();
    const { sizes, sum } = listing.group(digest);
    const isRepeat = sizes.has(key);
    const count = sizes.size + (isRepeat ? 0 : 1);
    if (!isWithin({ messages: count, bytes: sum + (isRepeat ? 0 : size) }, limits)) return null;
    listing.add(key);
    return async () => {
      await store.put(key, NOTHING, { isNew: true });
      // A listing may have begun before the record was written.
      listing.add(key);
    };
  }

  /** Deletes the records of earlier days. @param isOver - when true, nothing more is started */
  async sweep(isOver: () => boolean): Promise<void> {
    const { store } = this.#options;
    const keys = [...(await store.keys(SENDERS)), ...(await store.keys(SALTS))];
    for (const key of keys.filter((one) => (one.split("/")[1] ?? "") < this.#date())) {
      if (isOver()) return;
      await store.delete(key);
    }
  }

  async #today(): Promise<Day> {
    const { store, now } = this.#options;
    const name = this.#date();
    if (this.#day?.name === name) return this.#day;
    const salt = await this.#readSalt(name);
    const openListing = createListings((user) => {
      const prefix = `${SENDERS}${name}/${user}/`;
      return { store, now, prefix, parse: countedRecord };
    });
    // Of concurrent deliveries, the first one has made the listings.
    if (this.#day?.name !== name) this.#day = { name, salt, openListing };
    return this.#day;
  }

  #date(): string {
    return new Date(this.#options.now()).toISOString().slice(0, 10);
  }

  async #readSalt(day: string): Promise<Uint8Array> {
    const { store, random } = this.#options;
    const stored = await store.get(SALTS + day);
    if (stored) return stored.bytes;
    const salt = random(SALT_BYTES);
    const etag = await store.put(SALTS + day, salt, { isNew: true });
    return etag === null ? this.#readSalt(day) : salt;
  }
}

function countedRecord(key: string): CountedKey | null {
  const [, group, size] = RECORD.exec(key) ?? [];
  return group === undefined ? null : { group, size: Number(size) };
}

/** One message a day is always allowed, however small the inbox. */
function isWithin(used: DailyShareOptions["limits"], { messages, bytes }: DailyShareOptions["limits"]): boolean {
  return used.messages <= 1 || (used.messages <= messages / SHARES && used.bytes <= bytes / SHARES);
}
