// plugin/blobs/serve/copies.ts: the copies of shared blobs that a CDN keeps, and how it comes to forget them.
import { createHash } from "node:crypto";
import type { Log } from "../../http/respond.js";
import type { Store } from "../../store/store.js";
import type { BlobInfo } from "../blob.js";

/** Before a second and a third try. */
const PAUSES_MS = [200, 1000];
const FOLDER = "blobs/purges/";

/** What a CDN keeps of shared blobs. */
export interface Copies {
  /** Notes that a blob is about to be not what it was: the CDN is told in the next run, whatever happens until then. */
  note(blob: Pick<BlobInfo, "owner" | "key">): Promise<void>;
  /**
   * Makes the CDN forget a blob that is not what it was.
   *
   * @returns whether it has; if not, it is told again in a later run
   */
  forget(blob: Pick<BlobInfo, "owner" | "key">): Promise<boolean>;
  /**
   * Tells it once more of all blobs that were noted since the last run: an answer that was on its way meanwhile may have
   * become a copy after it was told.
   */
  forgetAgain(isOver: () => boolean): Promise<void>;
}

export interface CopiesOptions {
  store: Store;
  /** `null` where there is no CDN. */
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

/** By which the CDN knows the copies of a blob. */
export function tagOf({ owner, key }: Pick<BlobInfo, "owner" | "key">): string {
  return `twtxt-blob-${createHash("sha256").update(`${owner}/${key}`).digest("hex").slice(0, 32)}`;
}
