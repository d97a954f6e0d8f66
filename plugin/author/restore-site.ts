// plugin/author/restore-site.ts: restores a backup into a running site.
import { TwtxtError } from "../errors.js";
import { BATCH_BYTES, BATCH_VALUES, SMALL_VALUE_BYTES } from "../site/stored-data.js";
import { type ArchiveContents, type ArchiveSource, readValues } from "../store/archive.js";
import { concatChunks } from "../store/chunks.js";
import { counted } from "./amounts.js";
import type { NamedValue, RemoteStore } from "./remote-store.js";

/** A running site may delete values meanwhile, such as events that it has folded into a snapshot: they are written again. */
const ROUNDS = 4;

interface CheckedArchive {
  source: ArchiveSource;
  contents: ArchiveContents;
  /** Ends the restore between two requests. */
  signal: AbortSignal;
}

/** Shows the progress; an empty line removes it. */
type ShowStatus = (line: string) => void;

/**
 * Makes the site have the values of a backup. Values that it has already are not sent, so that the same command goes on after
 * an interruption. Values that were there at the start and are not in the backup are deleted at the end; what the site stores
 * meanwhile stays.
 *
 * @throws TwtxtError `store-failed` if it was interrupted, or the site loses values as often as they are written
 */
export async function restoreSite(store: RemoteStore, archive: CheckedArchive, show: ShowStatus): Promise<void> {
  const { values } = archive.contents;
  const before = await store.keys("");
  try {
    let missing = new Map(values);
    for (let round = 0; round < ROUNDS && missing.size > 0; round += 1) {
      await writeMissing(store, { ...archive, contents: { ...archive.contents, values: missing } }, show);
      const stored = new Set(await store.keys(""));
      missing = new Map([...values].filter(([key]) => !stored.has(key) && !key.startsWith("nonces/")));
    }
    if (missing.size > 0) {
      throw new TwtxtError(
        "store-failed",
        `The site has lost ${counted(missing.size, "value")} again. Try again later.`,
      );
    }
    await store.deleteAll(before.filter((key) => !values.has(key)));
  } finally {
    show("");
  }
}

async function writeMissing(store: RemoteStore, { source, contents, signal }: CheckedArchive, show: ShowStatus) {
  let batch: NamedValue[] = [];
  let bytes = 0;
  let done = 0;
  const flush = async () => {
    await writeChanged(store, batch, contents);
    done += batch.length;
    [batch, bytes] = [[], 0];
    show(`Restoring: ${done} of ${counted(contents.values.size, "value")}`);
  };
  for await (const { key, value, chunks } of readValues(source, contents, () => {})) {
    if (signal.aborted) {
      throw new TwtxtError("store-failed", "Interrupted: the data is incomplete. To continue, add --force.");
    }
    const isLarge = value.size > SMALL_VALUE_BYTES;
    if (isLarge || bytes + value.size > BATCH_BYTES || batch.length === BATCH_VALUES) await flush();
    if (isLarge) {
      await writeLarge(store, key, { ...value, chunks });
      done += 1;
    } else {
      batch.push({ key, bytes: await concatChunks(chunks) });
      bytes += value.size;
    }
  }
  await flush();
}

async function writeChanged(store: RemoteStore, batch: readonly NamedValue[], { values }: ArchiveContents) {
  if (batch.length === 0) return;
  const hashes = await store.hashAll(batch.map(({ key }) => key));
  const changed = batch.filter(({ key }, at) => hashes[at] !== values.get(key)?.sha256);
  if (changed.length > 0) await store.putAll(changed);
}

async function writeLarge(
  store: RemoteStore,
  key: string,
  { size, sha256, chunks }: { size: number; sha256: string; chunks: AsyncIterable<Uint8Array> },
): Promise<void> {
  const [stored = null] = await store.hashAll([key]);
  if (stored === sha256) return;
  if (stored !== null) await store.delete(key);
  await store.write(key, chunks, size);
}
