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

/**
 * Reserves room for contents that are coming in.
 *
 * @returns releases it, once the contents are written or given up
 * @throws TwtxtError `quota-exceeded`, `store-failed`
 */
export type Quota = (blob: Pick<BlobInfo, "owner" | "key" | "size">) => Promise<() => void>;

/** Contents that are coming in. */
interface Reservation {
  place: string;
  size: number;
}

/**
 * Counts each blob by its stored contents or its uploads under way, whichever is more, since the blob may be deleted
 * before they arrive. Contents that fit into the room of the existing blob are always accepted.
 *
 * Each process counts only its own uploads, so several processes may exceed the quota slightly.
 */
export function quota(blobs: Pick<StoredBlobs, "places">, { count, bytes }: BlobLimits): Quota {
  const reserved = new Map<string, readonly Reservation[]>();

  return async ({ owner, key, size }) => {
    const own: Reservation = { place: placeOf(key), size };
    // Reserved before it is counted: of two requests at once, the second one sees the first.
    const all = [...(reserved.get(owner) ?? []), own];
    reserved.set(owner, all);
    const release = () => {
      const others = reserved.get(owner) ?? [];
      reserved.set(
        owner,
        others.filter((one) => one !== own),
      );
    };
    try {
      const stored = await blobs.places(owner);
      const [before, after] = [usage(stored, all.slice(0, -1)), usage(stored, all)];
      if (after.count > Math.max(count, before.count)) throw exceeded(`${count} blobs`, "count");
      if (after.bytes > Math.max(bytes, before.bytes)) throw exceeded(`${bytes / 2 ** 20} MiB in all`, "megabytes");
    } catch (error) {
      release();
      throw error;
    }
    return release;
  };
}

function usage(stored: readonly Reservation[], coming: readonly Reservation[]): { count: number; bytes: number } {
  const sizes = new Map<string, number>();
  // A blob that is being replaced briefly has two contents and keeps one.
  for (const { place, size } of stored) sizes.set(place, Math.max(size, sizes.get(place) ?? 0));
  const sums = new Map<string, number>();
  for (const { place, size } of coming) sums.set(place, size + (sums.get(place) ?? 0));
  for (const [place, sum] of sums) sizes.set(place, Math.max(sum, sizes.get(place) ?? 0));
  return { count: sizes.size, bytes: sumOf([...sizes.values()]) };
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
