// plugin/store/folder-listings.ts: surveys of folders in a bucket, from listings that are kept in memory for two seconds.
import { AsyncLocalStorage } from "node:async_hooks";
import { RecentValues, remember } from "../groups.js";
import {
  checkPrefix,
  type EntryParts,
  type FolderSurvey,
  type ListRange,
  pageOfKeys,
  parseEntry,
  type StreamingStore,
  surveyEntries,
} from "./store.js";

/** Age at which keys are listed again, in milliseconds. */
const MAX_AGE_MS = 2000;
/** Listings in memory: a site can have any number of guests. */
const MAX_LISTINGS = 1000;

/** The entries of a folder by their keys. */
type Folder = Map<string, EntryParts>;

/** The keys below one root. */
interface Listing {
  /** By `performance.now()`. */
  at: number;
  folders: Map<string, Folder>;
  /** Keys that this process has written or deleted, which a listing that began before may miss. */
  changes: Map<string, "written" | "deleted">;
  running: Promise<void> | null;
}

/**
 * A store in a bucket that answers surveys. All folders with the same first two names, such as those of one inbox, have one
 * listing: a request to the bucket. Changes by this process show at once, and those of other processes after up to two seconds.
 */
export abstract class ListedStore implements Pick<StreamingStore, "keys" | "list" | "survey" | "shareListing"> {
  readonly #listings = new RecentValues<string, Listing>(MAX_LISTINGS);
  /** All keys, listed once for the work that is going on. */
  readonly #shared = new AsyncLocalStorage<{ keys: Promise<Set<string>> | null }>();
  /** How many calls of `shareListing` have not ended. */
  #sharing = 0;

  /** All keys with a prefix, as the bucket lists them now. */
  protected abstract listKeys(prefix: string): Promise<string[]>;

  async shareListing<T>(work: () => Promise<T>): Promise<T> {
    this.#sharing += 1;
    try {
      return await this.#shared.run({ keys: null }, work);
    } finally {
      this.#sharing -= 1;
      // Before Node.js 24, every promise of the process costs more while the storage is enabled.
      if (this.#sharing === 0) this.#shared.disable();
    }
  }

  async keys(prefix: string): Promise<string[]> {
    checkPrefix(prefix);
    const shared = this.#shared.getStore();
    if (!shared) return this.listKeys(prefix);
    shared.keys ??= this.listKeys("").then((keys) => new Set(keys));
    // A later call tries again.
    const keys = await shared.keys.catch((error) => {
      shared.keys = null;
      throw error;
    });
    return [...keys].filter((key) => key.startsWith(prefix));
  }

  /** Costs as much as all keys: Netlify Blobs has no listing after a key, and no bucket has one from the last key. */
  async list(prefix: string, range: ListRange): Promise<string[]> {
    return pageOfKeys(await this.keys(prefix), range);
  }

  async survey(folder: string, id = ""): Promise<FolderSurvey> {
    checkPrefix(folder);
    const root = toRoot(folder);
    const unread = (): Listing => ({ at: -MAX_AGE_MS, folders: new Map(), changes: new Map(), running: null });
    const listing = this.#listings.use(root, unread);
    if (performance.now() - listing.at >= MAX_AGE_MS) await this.#refresh(root, listing);
    return surveyEntries(listing.folders.get(folder) ?? [], id);
  }

  /** Call it after this process has written or deleted a key. */
  protected note(key: string, change: "written" | "deleted"): void {
    const shared = this.#shared.getStore()?.keys;
    void shared?.then((keys) => (change === "written" ? keys.add(key) : keys.delete(key))).catch(() => {});
    const listing = this.#listings.get(toRoot(key));
    if (!listing) return;
    if (listing.running) listing.changes.set(key, change);
    apply(listing.folders, key, change);
  }

  #refresh(root: string, listing: Listing): Promise<void> {
    const run = async () => {
      const start = performance.now();
      const keys = await this.listKeys(root);
      listing.folders = new Map();
      for (const key of keys) apply(listing.folders, key, "written");
      for (const [key, change] of listing.changes) apply(listing.folders, key, change);
      listing.at = start;
    };
    listing.running ??= run().finally(() => {
      listing.running = null;
      listing.changes.clear();
    });
    return listing.running;
  }
}

/** The first two names of a key, with the slashes after them. */
function toRoot(key: string): string {
  return /^[^/]*\/[^/]*\//.exec(key)?.[0] ?? key;
}

function apply(folders: Map<string, Folder>, key: string, change: "written" | "deleted"): void {
  const entry = parseEntry(key);
  if (!entry) return;
  const folder = remember(folders, entry.folder, (): Folder => new Map());
  if (change === "written") folder.set(key, entry);
  else folder.delete(key);
}
