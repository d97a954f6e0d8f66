// plugin/store/key-listing.ts: keys under a prefix, kept in memory for limits that each write checks.
import type { Clock } from "../clock.js";
import type { Store } from "./store.js";

/** Age at which the keys are listed again, in milliseconds. */
const MAX_AGE_MS = 2000;

/** Listings in memory: a site can have any number of guests. */
const MAX_LISTINGS = 1000;

/** What limits count of a key: keys of one group are versions or copies of one thing, or belong to one sender. */
export interface CountedKey {
  group: string;
  /** In bytes. */
  size: number;
  /** In milliseconds since 1970, for {@link KeyListing.newest}; default: none. */
  time?: number;
}

/** The keys of a group. */
interface KeyGroup {
  /** By key. */
  sizes: ReadonlyMap<string, number>;
  sum: number;
  largest: number;
}

/** The most that keys may count: the number of groups, and the sum of the largest key of each. */
interface KeyLimits {
  count: number;
  bytes: number;
}

const NO_KEYS: KeyGroup = { sizes: new Map(), sum: 0, largest: 0 };

interface KeyListingOptions {
  store: Pick<Store, "keys">;
  prefix: string;
  /** @returns `null` for keys to ignore */
  parse(key: string): CountedKey | null;
  now: Clock;
}

/**
 * Shows changes that are reported to it at once, and those of other processes after up to two seconds. Totals are updated
 * with each change, so that a check costs the same however many keys there are.
 */
export class KeyListing {
  readonly #options: KeyListingOptions;
  readonly #groupNames = new Map<string, string>();
  readonly #groups = new Map<string, KeyGroup & { sizes: Map<string, number> }>();
  #bytes = 0;
  #newest = 0;
  #listedAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | null = null;
  /** Keys that were changed since the current listing began, which may miss it. */
  readonly #changed = new Set<string>();
  readonly #reservations = new Set<CountedKey>();

  constructor(options: KeyListingOptions) {
    this.#options = options;
  }

  /** The number of groups. */
  get count(): number {
    return this.#groups.size;
  }

  /** The sum of the largest key of each group. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The latest time of a key, also of one that was deleted since; 0 for none. */
  get newest(): number {
    return this.#newest;
  }

  /** Notes the time of a key that this process is going to write. */
  noteTime(time: number): void {
    this.#newest = Math.max(time, this.#newest);
  }

  has(group: string): boolean {
    return this.#groups.has(group);
  }

  /** An empty group if there is none of this name. */
  group(name: string): KeyGroup {
    return this.#groups.get(name) ?? NO_KEYS;
  }

  /** Lists the keys, unless that was done in this time, by default in the last two seconds. @throws TwtxtError `store-failed` */
  async refresh(maxAgeMs = MAX_AGE_MS): Promise<void> {
    if (Math.abs(this.#options.now() - this.#listedAt) > maxAgeMs) await this.#startListing();
  }

  /** Lists the keys as they are now. @throws TwtxtError `store-failed` */
  async relist(): Promise<void> {
    // A listing that has already begun may miss a change.
    await this.#listing?.catch(() => {});
    await this.#startListing();
  }

  /**
   * Reserves room for a key that this process is going to write. If there is none, the keys are listed again first. A key that
   * fits into the room of its group always gets it.
   *
   * @returns ends the reservation, after {@link add} or a failed write; or the limit that the key would exceed
   * @throws TwtxtError `store-failed`
   */
  async reserve(key: CountedKey, limits: KeyLimits): Promise<(() => void) | keyof KeyLimits> {
    let exceeded = this.#findExceeded(key, limits);
    if (exceeded !== null) {
      await this.relist();
      exceeded = this.#findExceeded(key, limits);
    }
    if (exceeded !== null) return exceeded;
    this.#reservations.add(key);
    return () => void this.#reservations.delete(key);
  }

  /** Call it after a key was written. */
  add(key: string): void {
    this.#noteChange(key);
    this.#set(key);
  }

  /** Call it after a key was deleted. */
  delete(key: string): void {
    this.#noteChange(key);
    this.#remove(key);
  }

  #findExceeded(key: CountedKey, limits: KeyLimits): keyof KeyLimits | null {
    const before = this.#totalsWith([...this.#reservations]);
    const after = this.#totalsWith([...this.#reservations, key]);
    if (after.count > Math.max(limits.count, before.count)) return "count";
    return after.bytes > Math.max(limits.bytes, before.bytes) ? "bytes" : null;
  }

  /** Of each group, its largest key or its reservations count, whichever is more: the key may be deleted before they are written. */
  #totalsWith(reservations: readonly CountedKey[]): KeyLimits {
    const sums = new Map<string, number>();
    for (const { group, size } of reservations) sums.set(group, size + (sums.get(group) ?? 0));
    let { count, bytes } = this;
    for (const [group, sum] of sums) {
      count += this.has(group) ? 0 : 1;
      bytes += Math.max(sum - this.group(group).largest, 0);
    }
    return { count, bytes };
  }

  #noteChange(key: string): void {
    if (this.#listing) this.#changed.add(key);
  }

  #startListing(): Promise<void> {
    this.#listing ??= this.#list().finally(() => {
      this.#listing = null;
      this.#changed.clear();
    });
    return this.#listing;
  }

  async #list(): Promise<void> {
    const { store, prefix, now } = this.#options;
    const start = now();
    const listed = new Set(await store.keys(prefix));
    for (const key of listed) if (!this.#changed.has(key)) this.#set(key);
    for (const key of this.#groupNames.keys()) if (!listed.has(key) && !this.#changed.has(key)) this.#remove(key);
    this.#listedAt = start;
  }

  #set(key: string): void {
    if (this.#groupNames.has(key)) return;
    const counted = this.#options.parse(key);
    if (counted === null) return;
    const { group: name, size, time = 0 } = counted;
    this.noteTime(time);
    const group = this.#groups.get(name) ?? { sizes: new Map(), sum: 0, largest: 0 };
    this.#groups.set(name, group);
    this.#groupNames.set(key, name);
    group.sizes.set(key, size);
    group.sum += size;
    this.#bytes += Math.max(size - group.largest, 0);
    group.largest = Math.max(size, group.largest);
  }

  #remove(key: string): void {
    const name = this.#groupNames.get(key) ?? "";
    const group = this.#groups.get(name);
    if (!group) return;
    this.#groupNames.delete(key);
    group.sum -= group.sizes.get(key) ?? 0;
    group.sizes.delete(key);
    if (group.sizes.size === 0) this.#groups.delete(name);
    const largest = [...group.sizes.values()].reduce((most, size) => Math.max(most, size), 0);
    this.#bytes += largest - group.largest;
    group.largest = largest;
  }
}

/** One listing for each name, such as a user. The listing that was used least recently is dropped, and made again when needed. */
export function createListings(toOptions: (name: string) => KeyListingOptions): (name: string) => KeyListing {
  const listings = new Map<string, KeyListing>();
  return (name) => {
    const listing = listings.get(name) ?? new KeyListing(toOptions(name));
    listings.delete(name);
    listings.set(name, listing);
    const [oldest = name] = listings.keys();
    if (listings.size > MAX_LISTINGS) listings.delete(oldest);
    return listing;
  };
}
