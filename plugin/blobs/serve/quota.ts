// plugin/blobs/serve/quota.ts: storage quotas of owners.
import { TwtxtError } from "../../errors.js";
import type { BlobInfo } from "../blob.js";
import { type StoredBlobs, toPlace } from "./stored.js";

/** The quota of each owner. */
export interface BlobLimits {
  count: number;
  bytes: number;
  /** Limit of one blob. */
  maxBytes: number;
}

/**
 * Limits the space of each owner.
 *
 * Counts each blob by its stored contents or its uploads in progress, whichever is more. Contents that fit into the space of
 * the existing blob are always accepted.
 *
 * Each process counts its own uploads, and sees those of other processes after up to two seconds. So several processes may
 * exceed a quota by what they accept in that time.
 */
export class Quota {
  readonly #blobs: Pick<StoredBlobs, "listRecentContents">;
  readonly #limits: BlobLimits;

  constructor(blobs: Pick<StoredBlobs, "listRecentContents">, limits: BlobLimits) {
    this.#blobs = blobs;
    this.#limits = limits;
  }

  /**
   * Reserves space for an upload.
   *
   * @returns releases it, once the contents are stored or the upload has failed
   * @throws TwtxtError `quota-exceeded`, `store-failed`
   */
  async reserve({ owner, key, size }: Pick<BlobInfo, "owner" | "key" | "size">): Promise<() => void> {
    const { count, bytes } = this.#limits;
    const stored = await this.#blobs.listRecentContents(owner);
    const release = await stored.reserve({ group: toPlace(key), size }, { count, bytes });
    if (release === "count") throw exceeded(count === 1 ? "1 blob" : `${count} blobs`, "count");
    if (release === "bytes") throw exceeded(`${bytes / 2 ** 20} MiB in all`, "megabytes");
    return release;
  }
}

function exceeded(what: string, option: string): TwtxtError {
  return new TwtxtError(
    "quota-exceeded",
    `This upload would exceed the limit of ${what}. Delete some blobs, or raise the site's option blobs: { ${option} }.`,
  );
}
