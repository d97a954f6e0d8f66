// plugin/blobs/serve/quota.ts: storage quotas of owners.
import { TwtxtError } from "../../errors.js";
import { type FolderSurvey, parseEntry } from "../../store/store.js";
import type { BlobInfo } from "../blob.js";
import { type BlobContents, type ContentsName, toPlace } from "./contents.js";

/** The quota of each owner. */
export interface BlobLimits {
  count: number;
  bytes: number;
  /** Limit of one blob. */
  maxBytes: number;
}

/** Contents that this process is storing. A count of the stored ones may or may not include them. */
type Upload = Pick<ContentsName, "owner" | "place" | "size">;

type Totals = Pick<BlobLimits, "count" | "bytes">;

/**
 * Limits the space of each owner.
 *
 * Counts each blob by its stored contents or its uploads in progress, whichever is more. Contents that fit into the space of
 * the existing blob are always accepted.
 *
 * Each process counts its own uploads. So several processes may exceed a quota by the uploads that they accept at the same
 * time, and on a bucket by those of two seconds.
 */
export class Quota {
  readonly #uploads = new Set<Upload>();

  constructor(
    private readonly contents: Pick<BlobContents, "survey" | "list">,
    private readonly limits: BlobLimits,
  ) {}

  /**
   * Reserves space for an upload.
   *
   * @returns whether the blob has no contents yet; a function that releases the space, once the contents are stored or the
   *   upload has failed
   * @throws TwtxtError `quota-exceeded`, `store-failed`
   */
  async reserve({ owner, key, size }: Pick<BlobInfo, "owner" | "key" | "size">) {
    const upload = { owner, place: toPlace(key), size };
    const surveying = this.contents.survey(owner, upload.place);
    const mayExceed = await this.#add(upload, surveying, this.#mayExceed);
    const exceeded = mayExceed && (await this.#add(upload, this.contents.list(owner), this.#findExceeded));
    const { count, bytes } = this.limits;
    if (exceeded === "count") throw quotaExceeded(count === 1 ? "1 blob" : `${count} blobs`, "count");
    if (exceeded === "bytes") throw quotaExceeded(`${bytes / 2 ** 20} MiB in all`, "megabytes");
    const isNew = (await surveying).found.length === 0;
    return { isNew, release: () => void this.#uploads.delete(upload) };
  }

  /**
   * Adds an upload, unless a limit would be exceeded.
   *
   * @param find - gets what was read, with the other uploads that were in progress when reading began or ended: one of them
   *   may be missing from it
   */
  async #add<T, E>(
    upload: Upload,
    reading: Promise<T>,
    find: (upload: Upload, read: T, uploads: readonly Upload[]) => E | null,
  ): Promise<E | null> {
    const before = [...this.#uploads];
    const read = await reading;
    const uploads = [...new Set([...before, ...this.#uploads])].filter(({ owner }) => owner === upload.owner);
    const exceeded = find(upload, read, uploads);
    if (exceeded === null) this.#uploads.add(upload);
    return exceeded;
  }

  /** Counts all stored contents, and all uploads in addition. So there may be room although a limit seems to be exceeded. */
  #mayExceed = ({ place, size }: Upload, stored: FolderSurvey, uploads: readonly Upload[]): true | null => {
    const isNew = stored.found.length === 0;
    const isAlone = uploads.every((one) => one.place !== place);
    const largest = Math.max(0, ...stored.found.map((key) => parseEntry(key)?.number ?? 0));
    const growth = isAlone ? Math.max(0, size - largest) : size;
    const hasCount = !isNew || stored.count + uploads.length < this.limits.count;
    return hasCount && (growth === 0 || stored.sum + sumSizes(uploads) + growth <= this.limits.bytes) ? null : true;
  };

  /** Counts each blob once. */
  #findExceeded = (
    upload: Upload,
    stored: readonly ContentsName[],
    uploads: readonly Upload[],
  ): keyof Totals | null => {
    const before = sumBlobs(stored, uploads);
    const after = sumBlobs(stored, [...uploads, upload]);
    if (after.count > Math.max(this.limits.count, before.count)) return "count";
    return after.bytes > Math.max(this.limits.bytes, before.bytes) ? "bytes" : null;
  };
}

function sumBlobs(stored: readonly ContentsName[], uploads: readonly Upload[]): Totals {
  const sizes = new Map<string, number>();
  for (const { place, size } of stored) sizes.set(place, Math.max(size, sizes.get(place) ?? 0));
  for (const place of new Set(uploads.map((one) => one.place))) {
    const sum = sumSizes(uploads.filter((one) => one.place === place));
    sizes.set(place, Math.max(sum, sizes.get(place) ?? 0));
  }
  return { count: sizes.size, bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0) };
}

function sumSizes(uploads: readonly Pick<Upload, "size">[]): number {
  return uploads.reduce((sum, { size }) => sum + size, 0);
}

function quotaExceeded(what: string, option: string): TwtxtError {
  return new TwtxtError(
    "quota-exceeded",
    `This upload would exceed the limit of ${what}. Delete some blobs, or raise the site's option blobs: { ${option} }.`,
  );
}
