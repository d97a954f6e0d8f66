// plugin/blobs/serve/cdn-copies.ts: purges the CDN's copies of shared blobs. PROTOCOL 4
import { hash } from "node:crypto";
import type { Log } from "../../http/respond.js";
import { retry, type Sleep } from "../../store/retry.js";
import type { Store } from "../../store/store.js";
import type { BlobInfo } from "../blob.js";

/** Pauses before the second and third try, in milliseconds. */
const PAUSES_MS = [200, 1000];
const FOLDER = "blobs/purges/";

type BlobId = Pick<BlobInfo, "owner" | "key">;

interface CdnCopiesOptions {
  store: Store;
  /** Purges a tag from the CDN; `null` without a CDN. */
  purge: ((tag: string) => Promise<void>) | null;
  sleep: Sleep;
  /** Keys of one owner. A shared URL shows the blob of the newest one, so their blobs of one key have one tag. */
  sameOwner?: readonly string[];
  log: Log;
}

export class CdnCopies {
  constructor(private readonly options: CdnCopiesOptions) {}

  /** Records that a blob is about to change, so that the next run purges it whatever happens. */
  async noteChange(blob: BlobId): Promise<void> {
    const { store, purge } = this.options;
    if (purge) await store.put(FOLDER + this.toTag(blob), new Uint8Array());
  }

  /** Purges a changed blob. @returns whether that succeeded; if not, a later run tries again */
  async purge(blob: BlobId): Promise<boolean> {
    if (await this.#purgeTag(this.toTag(blob))) return true;
    // A run may have purged the blob before the change, and deleted its record.
    await this.noteChange(blob);
    return false;
  }

  /**
   * Purges all blobs changed since the last run once more: a response in progress may have been cached after the purge.
   *
   * @param isOver - when true, nothing more is started
   */
  async purgeAgain(isOver: () => boolean): Promise<void> {
    const { store, purge } = this.options;
    if (!purge) return;
    for (const key of await store.keys(FOLDER)) {
      // If one purge fails after all tries, the others would fail too.
      if (isOver() || !(await this.#purgeTag(key.slice(FOLDER.length)))) return;
      await store.delete(key);
    }
  }

  /** Whether the CDN may show a blob, or that of another key of its owner, at its URL. @param before - its former version */
  mayExist(before: { isPublic: boolean } | null, owner: string): boolean {
    return before?.isPublic === true || this.options.sameOwner?.includes(owner) === true;
  }

  toTag({ owner, key }: BlobId): string {
    const { sameOwner = [] } = this.options;
    const group = sameOwner.includes(owner) ? sameOwner.at(-1) : owner;
    return `twtxt-blob-${hash("sha256", `${group}/${key}`).slice(0, 32)}`;
  }

  async #purgeTag(tag: string): Promise<boolean> {
    const { purge, sleep, log } = this.options;
    try {
      await retry(async () => purge?.(tag), { pauses: PAUSES_MS, sleep });
      return true;
    } catch (error) {
      log(`The CDN still serves an old copy of a blob (${tag}): ${(error as Error).message}`, { level: "warn" });
      return false;
    }
  }
}
