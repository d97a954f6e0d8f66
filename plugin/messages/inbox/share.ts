// plugin/messages/inbox/share.ts: the daily limit for one sender's address.
//
// - `inbox-senders/<day>/<user>/<digest>/<id>-<size>` records a message from this address.
// - `inbox-salts/<day>` is the salt of a day's digests. Once both are deleted, senders cannot be identified.

import { createHmac } from "node:crypto";
import type { Clock } from "../../clock.js";
import type { Store } from "../../store/store.js";

const SENDERS = "inbox-senders/";
const SALTS = "inbox-salts/";
const SALT_BYTES = 16;
/** One address may fill a tenth of an inbox. PROTOCOL 3.3. */
const SHARES = 10;
/** The key has all the information. */
const NOTHING = new Uint8Array();

export interface ShareOptions {
  store: Store;
  now: Clock;
  random(length: number): Uint8Array;
  /** Limits of an inbox. */
  limits: { messages: number; bytes: number };
}

/** Limits what one sender's address may store in an inbox per day. PROTOCOL 3.3. */
export class Shares {
  readonly #options: ShareOptions;

  constructor(options: ShareOptions) {
    this.#options = options;
  }

  /**
   * Reserves room for a message. Call it before storing, so that concurrent deliveries respect the limit. Of two that take
   * the last room at the same time, both may be refused. A repeat of a message takes its room once.
   *
   * @param address - the client's address; only its digest is stored
   * @param size - in bytes
   * @returns `false` if the share of this address is used up
   */
  async take(user: string, address: string, { id, size }: { id: string; size: number }): Promise<boolean> {
    const { store, limits } = this.#options;
    const day = this.#today();
    const digest = createHmac("sha256", await this.#saltOf(day))
      .update(address)
      .digest("hex");
    const folder = `${SENDERS}${day}/${user}/${digest}/`;
    const key = `${folder}${id}-${size}`;
    await store.put(key, NOTHING);
    const sizes = (await store.keys(folder)).map((taken) => Number(taken.slice(taken.lastIndexOf("-") + 1)));
    if (isWithin(sizes, limits)) return true;
    await store.delete(key);
    return false;
  }

  /** Deletes the records of earlier days. @param isOver - when true, nothing more is started */
  async sweep(isOver: () => boolean): Promise<void> {
    const { store } = this.#options;
    const keys = [...(await store.keys(SENDERS)), ...(await store.keys(SALTS))];
    for (const key of keys.filter((one) => (one.split("/")[1] ?? "") < this.#today())) {
      if (isOver()) return;
      await store.delete(key);
    }
  }

  #today(): string {
    return new Date(this.#options.now()).toISOString().slice(0, 10);
  }

  async #saltOf(day: string): Promise<Uint8Array> {
    const { store, random } = this.#options;
    const stored = await store.get(SALTS + day);
    if (stored) return stored.bytes;
    const salt = random(SALT_BYTES);
    const etag = await store.put(SALTS + day, salt, { isNew: true });
    return etag === null ? this.#saltOf(day) : salt;
  }
}

/** One message a day is always allowed, however small the inbox. */
function isWithin(sizes: readonly number[], { messages, bytes }: ShareOptions["limits"]): boolean {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return sizes.length <= 1 || (sizes.length <= messages / SHARES && total <= bytes / SHARES);
}
