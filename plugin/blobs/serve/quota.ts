// plugin/blobs/serve/quota.ts: storage quotas of owners.
import { TwtxtError } from "../../errors.js";
import type { KeyListing } from "../../store/key-listing.js";
import type { BlobInfo } from "../blob.js";
import { placeOf, type StoredBlobs } from "./stored.js";

/** The quota of each owner. */
export interface BlobLimits {
  count: number;
  bytes: number;
  /** Limit of one blob. */
  maxBytes: number;
}

/** Contents that are being uploaded. */
interface Contents {
  place: string;
  size: number;
}

/**
 * Limits the space of each owner.
 *
 * Counts each blob by its stored contents or its uploads in progress, whichever is more, since the blob may be deleted
 * before they arrive. Contents that fit into the space of the existing blob are always accepted.
 *
 * Each process counts its own uploads, and sees those of other processes after up to two seconds. So several processes may
 * exceed a quota by what they accept in that time.
 */
export class Quota {
  readonly #blobs: Pick<StoredBlobs, "recentContentsOf">;
  readonly #limits: BlobLimits;
  readonly #uploads = new Map<string, readonly Contents[]>();

  constructor(blobs: Pick<StoredBlobs, "recentContentsOf">, limits: BlobLimits) {
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
    const upload = { place: placeOf(key), size };
    // Reserved before it is counted: of two concurrent uploads, the second one sees the first.
    const earlier = this.#uploads.get(owner) ?? [];
    this.#uploads.set(owner, [...earlier, upload]);
    const release = () => {
      const others = (this.#uploads.get(owner) ?? []).filter((one) => one !== upload);
      this.#uploads.set(owner, others);
    };
    try {
      const stored = await this.#blobs.recentContentsOf(owner);
      if (this.#excess(stored, earlier, upload)) {
        await stored.relist();
        const excess = this.#excess(stored, earlier, upload);
        if (excess) throw excess;
      }
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  #excess(stored: KeyListing, earlier: readonly Contents[], upload: Contents): TwtxtError | null {
    const { count, bytes } = this.#limits;
    const after = usage(stored, [...earlier, upload]);
    if (after.count <= count && after.bytes <= bytes) return null;
    const before = usage(stored, earlier);
    if (after.count > Math.max(count, before.count))
      return exceeded(count === 1 ? "1 blob" : `${count} blobs`, "count");
    if (after.bytes > Math.max(bytes, before.bytes)) return exceeded(`${bytes / 2 ** 20} MiB in all`, "megabytes");
    return null;
  }
}

/** @param stored - in groups by place. A blob that is being replaced briefly has two contents and keeps one */
function usage(stored: KeyListing, uploads: readonly Contents[]): { count: number; bytes: number } {
  const sums = new Map<string, number>();
  for (const { place, size } of uploads) sums.set(place, size + (sums.get(place) ?? 0));
  let { count, bytes } = stored;
  for (const [place, sum] of sums) {
    count += stored.has(place) ? 0 : 1;
    bytes += Math.max(sum - stored.group(place).largest, 0);
  }
  return { count, bytes };
}

function exceeded(what: string, option: string): TwtxtError {
  return new TwtxtError(
    "quota-exceeded",
    `This upload would exceed the limit of ${what}. Delete some blobs, or raise the site's option blobs: { ${option} }.`,
  );
}
