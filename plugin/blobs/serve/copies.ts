// plugin/blobs/serve/copies.ts: purges the CDN's copies of shared blobs.
import { createHash } from "node:crypto";
import type { Log } from "../../http/respond.js";
import type { Store } from "../../store/store.js";
import type { BlobInfo } from "../blob.js";

/** Pauses before the second and third try, in milliseconds. */
const PAUSES_MS = [200, 1000];
const FOLDER = "blobs/purges/";

/** The CDN's copies of shared blobs. */
export interface Copies {
  /** Records that a blob is about to change, so that the next run purges it whatever happens. */
  note(blob: Pick<BlobInfo, "owner" | "key">): Promise<void>;
  /**
   * Purges a changed blob.
   *
   * @returns whether that succeeded; if not, a later run tries again
   */
  forget(blob: Pick<BlobInfo, "owner" | "key">): Promise<boolean>;
  /**
   * Purges all blobs recorded since the last run once more: a response under way may have been cached after the purge.
   */
  forgetAgain(isOver: () => boolean): Promise<void>;
}

export interface CopiesOptions {
  store: Store;
  /** `null` without a CDN. */
  purge: ((tag: string) => Promise<void>) | null;
  sleep(milliseconds: number): Promise<void>;
  log: Log;
}

/** @see PROTOCOL 4 */
export function copies({ store, purge, sleep, log }: CopiesOptions): Copies {
  if (!purge) return { note: async () => {}, forget: async () => true, forgetAgain: async () => {} };

  const purged = async (tag: string): Promise<boolean> => {
    for (const pause of [...PAUSES_MS, null]) {
      try {
        await purge(tag);
        return true;
      } catch (error) {
        if (pause === null) log(`The CDN still serves an old copy of a blob (${tag}): ${(error as Error).message}`);
        else await sleep(pause);
      }
    }
    return false;
  };

  const note = async (blob: Pick<BlobInfo, "owner" | "key">) => {
    await store.put(FOLDER + tagOf(blob), new Uint8Array());
  };

  return {
    note,

    async forget(blob) {
      if (await purged(tagOf(blob))) return true;
      // A run may have taken the first note, and told of the blob before it was changed.
      await note(blob);
      return false;
    },

    async forgetAgain(isOver) {
      for (const key of await store.keys(FOLDER)) {
        // One that it does not answer takes time, and the next one would do so too.
        if (isOver() || !(await purged(key.slice(FOLDER.length)))) return;
        await store.delete(key);
      }
    },
  };
}

/** The cache tag of a blob. */
export function tagOf({ owner, key }: Pick<BlobInfo, "owner" | "key">): string {
  return `twtxt-blob-${createHash("sha256").update(`${owner}/${key}`).digest("hex").slice(0, 32)}`;
}
