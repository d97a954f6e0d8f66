// plugin/store/key-listing.ts: keys under a prefix, kept in memory for limits that each write checks.
import type { Clock } from "../clock.js";
import type { Store } from "./store.js";

/** Age at which the keys are listed again, in milliseconds. */
const MAX_AGE_MS = 2000;

interface KeyListingOptions<T> {
  store: Pick<Store, "keys">;
  prefix: string;
  /** @returns `null` for keys to ignore */
  parse(key: string): T | null;
  now: Clock;
}

/** Shows changes that are reported to it at once, and those of other processes after up to two seconds. */
export class KeyListing<T> {
  readonly #options: KeyListingOptions<T>;
  #entries = new Map<string, T>();
  #listedAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | null = null;
  /** Changes since the current listing began, which may miss them. */
  #changes: (() => void)[] = [];

  constructor(options: KeyListingOptions<T>) {
    this.#options = options;
  }

  /** Lists the keys, unless that was done in the last two seconds. @throws TwtxtError `store-failed` */
  async refresh(): Promise<void> {
    if (Math.abs(this.#options.now() - this.#listedAt) <= MAX_AGE_MS) return;
    this.#listing ??= this.#list().finally(() => {
      this.#listing = null;
    });
    await this.#listing;
  }

  entries(): T[] {
    return [...this.#entries.values()];
  }

  /** Call it after a key was written. */
  add(key: string): void {
    const entry = this.#options.parse(key);
    if (entry !== null) this.#change(() => this.#entries.set(key, entry));
  }

  /** Call it after a key was deleted. */
  delete(key: string): void {
    this.#change(() => this.#entries.delete(key));
  }

  #change(change: () => void): void {
    if (this.#listing) this.#changes.push(change);
    change();
  }

  async #list(): Promise<void> {
    const { store, prefix, parse, now } = this.#options;
    const start = now();
    this.#changes = [];
    const entries = new Map<string, T>();
    for (const key of await store.keys(prefix)) {
      const entry = this.#entries.get(key) ?? parse(key);
      if (entry !== null) entries.set(key, entry);
    }
    this.#entries = entries;
    for (const change of this.#changes) change();
    this.#listedAt = start;
  }
}

/** One listing for each name, such as a user. */
export function listingsOf<T>(optionsOf: (name: string) => KeyListingOptions<T>): (name: string) => KeyListing<T> {
  const listings = new Map<string, KeyListing<T>>();
  return (name) => {
    const listing = listings.get(name) ?? new KeyListing(optionsOf(name));
    listings.set(name, listing);
    return listing;
  };
}
