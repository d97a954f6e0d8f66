// plugin/blobs/serve/quota.ts: how much an owner may keep.
import { TwtxtError } from "../../errors.js";
import type { BlobInfo } from "../blob.js";
import type { StoredBlobs } from "./stored.js";

/** What each owner may keep. */
export interface BlobLimits {
  count: number;
  bytes: number;
  /** Of one blob. */
  maxBytes: number;
}

/**
 * Sets room aside for contents that are coming in.
 *
 * @param before - the blob that they replace; what is no larger than that is always taken
 * @returns gives it back, once they are written or given up
 * @throws TwtxtError `quota-exceeded`, `store-failed`
 */
export type Quota = (blob: Pick<BlobInfo, "owner" | "size">, before: BlobInfo | null) => Promise<() => void>;

/** By how much an owner's blobs become more. */
interface Growth {
  count: number;
  bytes: number;
}

/** Counts what is stored, and what comes in by way of this process. Several processes at once may exceed it by as much. */
export function quota({ places }: Pick<StoredBlobs, "places">, { count, bytes }: BlobLimits): Quota {
  const coming = new Map<string, readonly Growth[]>();

  return async ({ owner, size }, before) => {
    const growth: Growth = { count: before ? 0 : 1, bytes: Math.max(size - (before?.size ?? 0), 0) };
    // It is set aside before it is counted, so that of two at once the second knows of the first.
    const all = [...(coming.get(owner) ?? []), growth];
    coming.set(owner, all);
    const release = () => {
      const others = coming.get(owner) ?? [];
      coming.set(
        owner,
        others.filter((one) => one !== growth),
      );
    };
    try {
      const sizes = sizesIn(await places(owner));
      const number = sizes.length + sumOf(all.map((one) => one.count));
      const sum = sumOf(sizes) + sumOf(all.map((one) => one.bytes));
      if (growth.count > 0 && number > count) throw exceeded(`${count} blobs`, "count");
      if (growth.bytes > 0 && sum > bytes) throw exceeded(`${bytes / 2 ** 20} MiB in all`, "megabytes");
    } catch (error) {
      release();
      throw error;
    }
    return release;
  };
}

/** A blob that is being replaced has two contents for a moment, of which it keeps one. */
function sizesIn(places: readonly { place: string; size: number }[]): number[] {
  const sizes = new Map<string, number>();
  for (const { place, size } of places) sizes.set(place, Math.max(size, sizes.get(place) ?? 0));
  return [...sizes.values()];
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

function exceeded(what: string, option: string): TwtxtError {
  return new TwtxtError(
    "quota-exceeded",
    `It would be more than ${what}. Remove some first, or let the site's option blobs: { ${option} } allow more.`,
  );
}
