// plugin/messages/inbox/share.ts: how much of an inbox one sender's address may fill in a day.
//
// - `inbox-senders/<day>/<user>/<digest>/<id>-<size>` stands for a message that this address has stored.
// - `inbox-salts/<day>` is what the digests of a day are salted with. When both are gone, nothing tells who has written.

import { createHmac } from "node:crypto";
import type { Clock } from "../../clock.js";
import type { Store } from "../../store/store.js";

const SENDERS = "inbox-senders/";
const SALTS = "inbox-salts/";
const SALT_BYTES = 16;
/** One address may fill so much of an inbox: a tenth. PROTOCOL 3.3. */
const SHARES = 10;
/** What a key says, its value need not say again. */
const NOTHING = new Uint8Array();

/** What may be filled in a day. */
export interface Shares {
  /**
   * Takes the room of a message; to be called before it is stored, so that many at once take no more than one after
   * another. Of two who take the last room at the same time both may be refused. The same message takes its room once.
   *
   * @param address - of the client, as it is counted; stored as a digest alone
   * @param size - in bytes
   * @returns `false` where the share of this address is used up, and no room was taken
   */
  take(user: string, address: string, message: { id: string; size: number }): Promise<boolean>;
  /** Forgets the days that are over. @param isOver - nothing more is started once this holds */
  sweep(isOver: () => boolean): Promise<void>;
}

/** @see PROTOCOL 3.3 */
export function shares({ store, now, random, limits }: ShareOptions): Shares {
  const today = () => new Date(now()).toISOString().slice(0, 10);

  const saltOf = async (day: string): Promise<Uint8Array> => {
    const known = await store.get(SALTS + day);
    if (known) return known.bytes;
    const salt = random(SALT_BYTES);
    const isOurs = await store.put(SALTS + day, salt, { isNew: true });
    return isOurs === null ? saltOf(day) : salt;
  };

  return {
    async take(user, address, { id, size }) {
      const day = today();
      const digest = createHmac("sha256", await saltOf(day))
        .update(address)
        .digest("hex");
      const folder = `${SENDERS}${day}/${user}/${digest}/`;
      const key = `${folder}${id}-${size}`;
      await store.put(key, NOTHING);
      const sizes = (await store.keys(folder)).map((taken) => Number(taken.slice(taken.lastIndexOf("-") + 1)));
      if (isWithin(sizes, limits)) return true;
      await store.delete(key);
      return false;
    },

    async sweep(isOver) {
      const keys = [...(await store.keys(SENDERS)), ...(await store.keys(SALTS))];
      for (const key of keys.filter((one) => (one.split("/")[1] ?? "") < today())) {
        if (isOver()) return;
        await store.delete(key);
      }
    },
  };
}

export interface ShareOptions {
  store: Store;
  now: Clock;
  random(length: number): Uint8Array;
  /** Of an inbox. */
  limits: { messages: number; bytes: number };
}

/** One message a day is nobody's too much, however small the inbox is. */
function isWithin(sizes: readonly number[], { messages, bytes }: ShareOptions["limits"]): boolean {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return sizes.length <= 1 || (sizes.length <= messages / SHARES && total <= bytes / SHARES);
}
