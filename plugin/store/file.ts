// plugin/store/file.ts: a store in a folder, shared by processes of which each may be killed at any moment.
//
// A key is a folder `a/b/c@`. In it the file `<version>` holds a value, and the NAME of the file `head.<version>` tells
// which version counts. A version is `<number>-<random>[-<checksum>]` and never comes back. A small value that is the
// first of its key stands in the head itself.
//
// - A value is replaced by writing the next version's file and renaming `head.<old>` to `head.<new>`: of all writers that
//   start from one version, one alone still finds the old name. This is the only step that counts.
// - A key is made and removed by renaming its whole folder, from `.tmp` and to it. No folder replaces one that is not
//   empty, and a writer that still knows a version of a removed key no longer finds its head, even where the key is made
//   again.
// - There are no locks, so none is left behind. What a killed process leaves is never read: a version that the head has
//   passed is removed by the next write, and what it has begun in `.tmp` by the first write of another process, or later.
// - Small values and deletions are made durable by a log, see write-log.ts, larger values by syncing their files.
import { type FileHandle, open, readFile, rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { joined, streamOf } from "./chunks.js";
import { codeOf, ifThere, isDone, makeFolder, remove, syncFolder, writeNew } from "./disk.js";
import {
  type Current,
  firstVersion,
  folderOf,
  formatHead,
  HEAD,
  keysIn,
  look,
  numberOf,
  ONLY_VERSION,
  valueInHead,
  versionAfter,
} from "./key-folder.js";
import { clearAway, nameOfOwn } from "./leftovers.js";
import type { LogEntry } from "./log-entry.js";
import { recover } from "./recovery.js";
import { checkKey, checkPrefix, holds, type Range, type StreamingStore } from "./store.js";
import { currentBoot, logTime, WriteLog } from "./write-log.js";

/** Retries after losing a race with another process. */
const TRIES = 100;
/** How much is read at a time. */
const READ_BYTES = 256 * 1024;
/** How often what killed processes have left is looked for, in milliseconds. */
const CLEARED_EVERY_MS = 3600_000;
/** Values up to this size are logged. Larger ones are synced in their own files: they would be written twice. */
const LOGGED_BYTES = 16 * 1024;

/** Where a store is, and the log that makes its changes durable; `null` where each file is synced instead. */
interface Place {
  root: string;
  tmp: string;
  log: WriteLog | null;
}

/**
 * A store in a folder of its own on a local disk; the folder is made by the first write.
 *
 * @param boot - names the time since the machine's start; `null` for a system without such a name
 */
export function fileStore(folder: string, boot: string | null = currentBoot()): StreamingStore {
  const root = resolve(folder);
  const tmp = join(root, ".tmp");
  const store: Place = { root, tmp, log: boot === null ? null : new WriteLog(root, boot) };
  let sweeping: Promise<void> | null = null;
  let recovering: Promise<void> | null = null;

  const swept = () => {
    sweeping ??= clearAway(tmp).finally(() => {
      setTimeout(() => {
        sweeping = null;
      }, CLEARED_EVERY_MS).unref();
    });
    return sweeping;
  };

  const recovered = () => {
    recovering ??= recover(root, boot).catch((error) => {
      recovering = null;
      throw error;
    });
    return recovering;
  };

  /** Does work in a store that is whole, and says what failed. */
  const reliably = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      await recovered();
      return await work();
    } catch (error) {
      if (error instanceof TwtxtError) throw error;
      throw new TwtxtError("store-failed", `The store in ${root} failed: ${(error as Error).message}.`, {
        cause: error,
      });
    }
  };

  return {
    async get(key) {
      checkKey(key);
      const place = folderOf(root, key);
      return reliably(() =>
        untilSettled(key, async () => {
          const current = await look(place);
          if (!current) return current;
          const bytes = isInHead(current)
            ? await valueInHead(place, current.version)
            : await ifThere(readFile(join(place, current.version)));
          return bytes ? { bytes, etag: current.version } : undefined;
        }),
      );
    },

    async put(key, bytes, condition) {
      checkKey(key);
      const place = folderOf(root, key);
      return reliably(() =>
        untilSettled(key, async () => {
          const current = await look(place);
          if (current === undefined) return undefined;
          if (!holds(condition, current?.version ?? null)) return null;
          if (current) return replace(store, key, current, bytes);
          await swept();
          return create(store, key, bytes);
        }),
      );
    },

    async write(key, chunks, size) {
      checkKey(key);
      await reliably(async () => {
        await swept();
        const value = size > LOGGED_BYTES ? chunks : await joined(chunks);
        if ((await create(store, key, value)) === undefined) {
          throw new TwtxtError("store-failed", `${key} is there already, and is not to be replaced.`);
        }
      });
    },

    async read(key, range) {
      checkKey(key);
      const place = folderOf(root, key);
      return reliably(() =>
        untilSettled(key, async () => {
          const streamed = await ifThere(open(join(place, ONLY_VERSION)));
          return streamed ? partOf(streamed, range) : readCurrent(place, range);
        }),
      );
    },

    async delete(key) {
      checkKey(key);
      await reliably(() => discard(store, key));
    },

    async keys(prefix) {
      checkPrefix(prefix);
      return reliably(() => keysIn(root, prefix));
    },
  };
}

/** @returns `null` and `undefined` as {@link look} */
async function readCurrent(place: string, range?: Range): Promise<ReadableStream<Uint8Array> | null | undefined> {
  const current = await look(place);
  if (!current) return current;
  if (isInHead(current)) {
    const bytes = await valueInHead(place, current.version);
    return bytes && streamOf(bytes, range);
  }
  const handle = await ifThere(open(join(place, current.version)));
  return handle ? partOf(handle, range) : undefined;
}

function isInHead({ version, names }: Current): boolean {
  return !names.includes(version);
}

/** An open file, or a part of it; it is closed at the end. A reader with a buffer of its own needs no other. */
async function partOf(handle: FileHandle, range?: Range): Promise<ReadableStream<Uint8Array>> {
  const { first, last } = range ?? (await wholeOf(handle));
  let at = first;
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: READ_BYTES,
    async pull(controller) {
      const request = controller.byobRequest as ReadableStreamBYOBRequest;
      const view = request.view as Uint8Array;
      const length = Math.min(view.byteLength, last + 1 - at);
      const bytesRead = await orClose(handle, someOf(handle, view, { position: at, length }));
      at += bytesRead;
      if (bytesRead > 0) request.respond(bytesRead);
      if (bytesRead > 0 && at <= last) return;
      controller.close();
      // Who waits for a part is told that there is none.
      controller.byobRequest?.respond(0);
      await handle.close();
    },
    cancel: () => handle.close(),
  });
}

/** @returns how many bytes; 0 where none are wanted */
async function someOf(handle: FileHandle, view: Uint8Array, place: { position: number; length: number }) {
  const { bytesRead } = await handle.read(view, place);
  if (bytesRead > 0 || place.length === 0) return bytesRead;
  throw new TwtxtError("store-failed", "A value is shorter than it was.");
}

async function wholeOf(handle: FileHandle): Promise<Range> {
  const { size } = await orClose(handle, handle.stat());
  return { first: 0, last: size - 1 };
}

async function orClose<T>(handle: FileHandle, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** @param attempt - its answer, or `undefined` where somebody else was faster */
async function untilSettled<T>(key: string, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = await attempt();
    if (answer !== undefined) return answer;
  }
  throw new TwtxtError(
    "store-failed",
    `What is stored under ${key} cannot be read: its folder is damaged, or other processes changed it ${TRIES} times in a row.`,
  );
}

/** @returns `undefined` where another process has replaced or removed it, and nothing was written */
async function replace(
  { root, log }: Place,
  key: string,
  { version: old, names }: Current,
  bytes: Uint8Array,
): Promise<string | undefined> {
  const place = folderOf(root, key);
  const logged = log && isSmall(bytes) ? bytes : null;
  const version = versionAfter(old, logged);
  const file = join(place, version);
  if (!(await isDone(writeNew(file, bytes, { flush: !logged })))) return undefined;
  const at = logTime();
  if (!(await isDone(rename(join(place, HEAD + old), join(place, HEAD + version))))) {
    await remove(file);
    return undefined;
  }
  if (!logged) await isDone(syncFolder(place));
  await log?.append(entryOf({ key, version, at }, logged));
  // The heads that these were to follow are history: whoever still writes one of them has lost.
  const passed = names.filter((name) => numberOf(name) <= numberOf(version));
  await Promise.all(passed.map((name) => remove(join(place, name))));
  return version;
}

/** @returns `undefined` where another process has made the key meanwhile, and nothing was written */
async function create(
  { root, tmp, log }: Place,
  key: string,
  value: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<string | undefined> {
  const place = folderOf(root, key);
  const made = join(tmp, nameOfOwn());
  const logged = log && value instanceof Uint8Array && isSmall(value) ? value : null;
  const version = value instanceof Uint8Array ? firstVersion(logged) : ONLY_VERSION;
  try {
    await makeFolder(made);
    if (logged) {
      await writeNew(join(made, HEAD + version), formatHead(version, logged), { flush: false });
    } else {
      await writeNew(join(made, version), value, { flush: true });
      await writeNew(join(made, HEAD + version), new Uint8Array(), { flush: true });
      await syncFolder(made);
    }
    const placed = await placeFolder(made, place);
    if (!placed) {
      await remove(made);
      return undefined;
    }
    if (!logged) await syncFolder(dirname(place), placed.firstNew);
    await log?.append(entryOf({ key, version, at: placed.at }, logged));
    return version;
  } catch (error) {
    await remove(made);
    throw error;
  }
}

function isSmall(value: Uint8Array): boolean {
  return value.length <= LOGGED_BYTES;
}

/** @param logged - the value; `null` where its own file is synced */
function entryOf(of: Pick<LogEntry, "key" | "version" | "at">, logged: Uint8Array | null): Omit<LogEntry, "until"> {
  return { ...of, change: logged ? "value" : "synced", bytes: logged ?? new Uint8Array() };
}

/**
 * Gives a folder its place, and makes the folders above it.
 *
 * @returns the first folder that was new, if any, and the time before this; `null` where there is a folder already
 */
async function placeFolder(
  made: string,
  place: string,
  firstNew?: string,
): Promise<{ at: number; firstNew: string | undefined } | null> {
  const at = logTime();
  try {
    await rename(made, place);
    return { at, firstNew };
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes(codeOf(error))) return null;
    if (codeOf(error) !== "ENOENT" || firstNew !== undefined) throw error;
    const above = dirname(place);
    return placeFolder(made, place, (await makeFolder(above)) ?? above);
  }
}

/** Takes a key's folder away at once and then apart, so that no process ever finds half of it. */
async function discard({ root, tmp, log }: Place, key: string): Promise<void> {
  const place = folderOf(root, key);
  const away = join(tmp, nameOfOwn());
  const at = logTime();
  await makeFolder(tmp);
  if (!(await isDone(rename(place, away)))) return;
  const gone = log && (await look(away));
  if (gone) await log.append({ key, version: gone.version, at, change: "deleted", bytes: new Uint8Array() });
  else await syncFolder(dirname(place));
  await remove(away);
}
