// plugin/author/restore.ts: restores a backup into a store on this machine, a bucket, or the site itself.
import { mapInParallel } from "../concurrency.js";
import { TwtxtError } from "../errors.js";
import { NONCES } from "../http/nonces.js";
import { BATCH_BYTES, BATCH_VALUES, SMALL_VALUE_BYTES } from "../site/stored-data.js";
import { type ArchiveContents, type ArchiveSource, readValues } from "../store/archive.js";
import { concatChunks } from "../store/chunks.js";
import { hashValue } from "../store/copy.js";
import type { StreamingStore } from "../store/store.js";
import { counted } from "./amounts.js";

const AT_ONCE = 16;

export interface NamedValue {
  key: string;
  bytes: Uint8Array;
}

/** Takes the values of a backup. */
export interface RestoreTarget extends Pick<StreamingStore, "keys" | "write"> {
  /** The SHA-256 of each value in hex; `null` for a missing one. */
  hashAll(keys: readonly string[]): Promise<(string | null)[]>;
  /** Writes small values in this order. */
  putAll(values: readonly NamedValue[]): Promise<void>;
  deleteAll(keys: readonly string[]): Promise<void>;
}

export function toRestoreTarget(store: StreamingStore): RestoreTarget {
  return {
    keys: (prefix) => store.keys(prefix),
    write: (key, chunks, size) => store.write(key, chunks, size),
    hashAll: (keys) => mapInParallel(keys, AT_ONCE, (key) => hashValue(store, key)),
    async putAll(values) {
      for (const { key, bytes } of values) await store.put(key, bytes);
    },
    async deleteAll(keys) {
      for (const key of keys) await store.delete(key);
    },
  };
}

/** A running site may delete values meanwhile, such as events that it has folded into a snapshot: they are written again. */
const ROUNDS = 4;

interface CheckedArchive {
  source: ArchiveSource;
  contents: ArchiveContents;
  /** Ends the restore between two requests. */
  signal: AbortSignal;
  /** Called with the size of each chunk that was read. */
  onBytes(bytes: number): void;
}

/**
 * Makes a store have the values of a backup. Values that it has already are not written, so that the same command goes on after
 * an interruption. Values that were there at the start and are not in the backup are deleted at the end; what a running site
 * stores meanwhile stays.
 *
 * @throws TwtxtError `store-failed` if it was interrupted, or the site loses values as often as they are written
 */
export async function restoreValues(target: RestoreTarget, archive: CheckedArchive): Promise<void> {
  const { values } = archive.contents;
  const before = await target.keys("");
  let stored = new Set(before);
  let missing = new Map(values);
  for (let round = 0; round < ROUNDS && missing.size > 0; round += 1) {
    await writeMissing(target, { ...archive, contents: { ...archive.contents, values: missing } }, stored);
    stored = new Set(await target.keys(""));
    missing = new Map([...values].filter(([key]) => !stored.has(key) && !key.startsWith(NONCES)));
  }
  if (missing.size > 0) {
    throw new TwtxtError("store-failed", `The site has lost ${counted(missing.size, "value")} again. Try again later.`);
  }
  await target.deleteAll(before.filter((key) => !values.has(key)));
}

async function writeMissing(
  target: RestoreTarget,
  { source, contents, signal, onBytes }: CheckedArchive,
  stored: ReadonlySet<string>,
) {
  let batch: NamedValue[] = [];
  let bytes = 0;
  const isSame = async (keys: string[]) => {
    const known = keys.filter((key) => stored.has(key));
    const hashes = known.length === 0 ? [] : await target.hashAll(known);
    return new Set(known.filter((key, at) => hashes[at] === contents.values.get(key)?.sha256));
  };
  const flush = async () => {
    const same = await isSame(batch.map(({ key }) => key));
    const changed = batch.filter(({ key }) => !same.has(key));
    if (changed.length > 0) await target.putAll(changed);
    [batch, bytes] = [[], 0];
  };
  for await (const { key, value, chunks } of readValues(source, contents, onBytes)) {
    if (signal.aborted) {
      throw new TwtxtError("store-failed", "Interrupted: the data is incomplete. To continue, add --force.");
    }
    const isLarge = value.size > SMALL_VALUE_BYTES;
    if (isLarge || bytes + value.size > BATCH_BYTES || batch.length === BATCH_VALUES) await flush();
    if (!isLarge) {
      batch.push({ key, bytes: await concatChunks(chunks) });
      bytes += value.size;
    } else if (!(await isSame([key])).has(key)) {
      if (stored.has(key)) await target.deleteAll([key]);
      await target.write(key, chunks, value.size);
    }
  }
  await flush();
}
