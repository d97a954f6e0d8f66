// plugin/http/daily-shares.ts: what one IP address may store in a place, such as an inbox, per day. PROTOCOL 2.6, 3.3
//
// - `<place>/senders/<day>/<digest>/<id>-<size>` records what came from this address, or from its wider network.
// - `<root>-salts/<day>` is the salt of a day's digests. Once both are deleted, senders cannot be identified.

import { hash, randomBytes } from "node:crypto";
import type { Clock } from "../clock.js";
import type { Store } from "../store/store.js";
import { sweep } from "../store/sweep.js";
import { type ClientNetwork, SHARES } from "./client-networks.js";

/** The day of a record or a salt, below any root. */
const DAY = /^(?:[^/]+\/(?:[^/]+\/)?senders|[^/]+-salts)\/([^/]+)/;
const SALT_BYTES = 16;
const ID_BYTES = 32;

interface DailyShareOptions {
  store: Store;
  now: Clock;
  /** What the places are part of: the start of the keys. */
  root: string;
  /** Default of `bytes`: no limit. */
  limits: { messages: number; bytes?: number };
}

/** Where the items of one network in a place are counted, on one day. */
export interface SenderFolder extends Pick<ClientNetwork, "shares"> {
  /** Different for each network, place and day. */
  folder: string;
}

/** What of its share a network has used. */
export interface DailyShare extends SenderFolder {
  count: number;
  bytes: number;
  /** Whether the item is already counted, after an attempt that has failed. */
  isCounted: boolean;
}

/** Limits what one sender's address may store in a place per day. */
export class DailyShares {
  #salt: { day: string; bytes: Uint8Array } | null = null;

  constructor(private readonly options: DailyShareOptions) {}

  /**
   * The folders of these networks.
   *
   * @param place - such as `inbox/alice`
   * @param networks - only digests of them are stored
   */
  async findFolders(place: string, networks: readonly ClientNetwork[]): Promise<SenderFolder[]> {
    const day = this.#date();
    if (this.#salt?.day !== day) this.#salt = { day, bytes: await this.#readSalt(day) };
    const salt = this.#salt.bytes;
    return networks.map(({ network, shares }) => {
      const digest = hash("sha256", Buffer.concat([salt, Buffer.from(network)]));
      return { folder: `${place}/senders/${day}/${digest}/`, shares };
    });
  }

  /** Whether each share has room for one more item. Its size does not count. */
  async haveRoom(senders: readonly SenderFolder[]): Promise<boolean> {
    const used = await Promise.all(senders.map((sender) => this.survey(sender, "")));
    return used.every((share) => this.isWithin({ count: share.count + 1, bytes: 0 }, share));
  }

  /**
   * Counts an item. Also what other processes count at the same time has no more than its share: each counts first and then
   * reads what all have counted, without the delay of a survey. The shares come one after the other, so that an item that
   * one of them refuses takes nothing of the next.
   *
   * @param senders - the narrowest network first
   * @returns whether each share had room for it
   */
  async claim(senders: readonly SenderFolder[]): Promise<boolean> {
    const id = randomBytes(ID_BYTES).toString("hex");
    for (const sender of senders) {
      await this.record(sender, { id, size: 0 });
      const { length: count } = await this.options.store.keys(sender.folder);
      if (!this.isWithin({ count, bytes: 0 }, sender)) return false;
    }
    return true;
  }

  /** @param id - 64 hex digits, of an item that may arrive */
  async survey(sender: SenderFolder, id: string): Promise<DailyShare> {
    const { count, sum, found } = await this.options.store.survey(sender.folder, id);
    return { ...sender, count, bytes: sum, isCounted: found.length > 0 };
  }

  /** Whether a share may contain so much. One item a day is always allowed, however small the place. */
  isWithin({ count, bytes }: { count: number; bytes: number }, { shares }: SenderFolder): boolean {
    const { messages, bytes: most = Number.POSITIVE_INFINITY } = this.options.limits;
    const part = shares / SHARES;
    return count <= 1 || (count <= messages * part && bytes <= most * part);
  }

  /** Records an item durably. @param size - in bytes */
  async record({ folder }: SenderFolder, { id, size }: { id: string; size: number }): Promise<void> {
    await this.options.store.put(`${folder}${id}-${size}`, new Uint8Array(), { isNew: true });
  }

  /** Deletes the records of earlier days. @param keys - of all places, with the salts; others are ignored */
  async sweep(keys: readonly string[], isOver: () => boolean): Promise<void> {
    const today = this.#date();
    const isOutdated = (key: string) => (DAY.exec(key)?.[1] ?? today) < today;
    await sweep(this.options.store, keys.filter(isOutdated), isOver);
  }

  #date(): string {
    return new Date(this.options.now()).toISOString().slice(0, 10);
  }

  async #readSalt(day: string): Promise<Uint8Array> {
    const { store, root } = this.options;
    const key = `${root}-salts/${day}`;
    const stored = await store.get(key);
    if (stored) return stored.bytes;
    const salt = randomBytes(SALT_BYTES);
    const etag = await store.put(key, salt, { isNew: true });
    return etag === null ? this.#readSalt(day) : salt;
  }
}
