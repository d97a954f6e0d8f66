// plugin/messages/inbox/daily-shares.ts: what one IP address may store in an inbox per day. PROTOCOL 3.3
//
// - `inbox/<user>/senders/<day>/<digest>/<id>-<size>` records a message from this address, or from its wider network.
// - `inbox-salts/<day>` is the salt of a day's digests. Once both are deleted, senders cannot be identified.

import { createHmac } from "node:crypto";
import type { Clock } from "../../clock.js";
import { type ClientNetwork, listNetworks, SHARES } from "../../http/client-networks.js";
import type { Store } from "../../store/store.js";
import { sweep } from "../../store/sweep.js";

const SALTS = "inbox-salts/";
/** The day of a record or a salt. */
const DAY = /^(?:inbox\/[^/]+\/senders|inbox-salts)\/([^/]+)/;
const SALT_BYTES = 16;

interface DailyShareOptions {
  store: Store;
  now: Clock;
  random(length: number): Uint8Array;
  /** Limits of an inbox. */
  limits: { messages: number; bytes: number };
}

/** Where the messages of one network to an inbox are counted, on one day. */
export interface SenderFolder extends Pick<ClientNetwork, "shares"> {
  /** Different for each network, inbox and day. */
  folder: string;
}

/** What of its share a network has used. */
export interface DailyShare extends SenderFolder {
  count: number;
  bytes: number;
  /** Whether the message is already counted, after an attempt that has failed. */
  isCounted: boolean;
}

/** Limits what one sender's address may store in an inbox per day. PROTOCOL 3.3. */
export class DailyShares {
  readonly #options: DailyShareOptions;
  #salt: { day: string; bytes: Uint8Array } | null = null;

  constructor(options: DailyShareOptions) {
    this.#options = options;
  }

  /** The folders of an address, one for each of its networks. @param address - the client's address; only digests are stored */
  async findFolders(user: string, address: string): Promise<SenderFolder[]> {
    const day = this.#date();
    if (this.#salt?.day !== day) this.#salt = { day, bytes: await this.#readSalt(day) };
    const salt = this.#salt.bytes;
    return listNetworks(address).map(({ network, shares }) => {
      const digest = createHmac("sha256", salt).update(network).digest("hex");
      return { folder: `inbox/${user}/senders/${day}/${digest}/`, shares };
    });
  }

  /** @param id - of a message that may arrive */
  async survey(sender: SenderFolder, id: string): Promise<DailyShare> {
    const { count, sum, found } = await this.#options.store.survey(sender.folder, id);
    return { ...sender, count, bytes: sum, isCounted: found.length > 0 };
  }

  /** Whether a share may contain so much. One message a day is always allowed, however small the inbox. */
  isWithin({ count, bytes }: { count: number; bytes: number }, { shares }: SenderFolder): boolean {
    const { limits } = this.#options;
    const part = shares / SHARES;
    return count <= 1 || (count <= limits.messages * part && bytes <= limits.bytes * part);
  }

  /** Records a message durably. @param size - in bytes */
  async record({ folder }: SenderFolder, { id, size }: { id: string; size: number }): Promise<void> {
    await this.#options.store.put(`${folder}${id}-${size}`, new Uint8Array(), { isNew: true });
  }

  /** Deletes the records of earlier days. @param keys - of all inboxes, with the salts; others are ignored */
  async sweep(keys: readonly string[], isOver: () => boolean): Promise<void> {
    const today = this.#date();
    const isOutdated = (key: string) => (DAY.exec(key)?.[1] ?? today) < today;
    await sweep(this.#options.store, keys.filter(isOutdated), isOver);
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
