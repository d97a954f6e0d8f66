// plugin/blobs/serve/quota.ts: storage quotas of owners.
import { TwtxtError } from "../../errors.js";
import type { BlobInfo } from "../blob.js";
import { placeOf, type StoredBlobs } from "./stored.js";

/** The quota of each owner. */
export interface BlobLimits {
  count: number;
  bytes: number;
  /** Limit of one blob. */
  maxBytes: number;
}

/** Contents that use space, stored or being uploaded. */
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
  readonly #blobs: Pick<StoredBlobs, "recentContentsOf" | "contentsOf">;
  readonly #limits: BlobLimits;
  readonly #uploads = new Map<string, readonly Contents[]>();

  constructor(blobs: Pick<StoredBlobs, "recentContentsOf" | "contentsOf">, limits: BlobLimits) {
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
      if (this.#excess(await this.#blobs.recentContentsOf(owner), earlier, upload)) {
        const excess = this.#excess(await this.#blobs.contentsOf(owner), earlier, upload);
        if (excess) throw excess;
      }
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  #excess(stored: readonly Contents[], earlier: readonly Contents[], upload: Contents): TwtxtError | null {
    const { count, bytes } = this.#limits;
    const after = usage(stored, [...earlier, upload]);
    if (after.count <= count && after.bytes <= bytes) return null;
    const before = usage(stored, earlier);
    if (after.count > Math.max(count, before.count)) return exceeded(`${count} blobs`, "count");
    if (after.bytes > Math.max(bytes, before.bytes)) return exceeded(`${bytes / 2 ** 20} MiB in all`, "megabytes");
    return null;
  }
}

function usage(stored: readonly Contents[], uploads: readonly Contents[]): { count: number; bytes: number } {
  const sizes = new Map<string, number>();
  // A blob that is being replaced briefly has two contents and keeps one.
  for (const { place, size } of stored) sizes.set(place, Math.max(size, sizes.get(place) ?? 0));
  const sums = new Map<string, number>();
  for (const { place, size } of uploads) sums.set(place, size + (sums.get(place) ?? 0));
  for (const [place, sum] of sums) sizes.set(place, Math.max(sum, sizes.get(place) ?? 0));
  return { count: sizes.size, bytes: sumOf([...sizes.values()]) };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

function exceeded(what: string, option: string): TwtxtError {
  return new TwtxtError(
    "quota-exceeded",
    `This upload would exceed the limit of ${what}. Delete some blobs, or raise the site's option blobs: { ${option} }.`,
  );
}
