// plugin/store/file.ts: store in a local folder, shared by processes that may be killed at any moment.
//
// A key is a folder `a/b/c@`. In it the file `<version>` contains a value, and the NAME of the file `head.<version>` says
// which version is current. A version is `<number>-<random>[-<checksum>]` and is never reused. The head itself contains the
// value if it is small and the first of its key.
//
// - A value is replaced by writing a file for the next version and renaming `head.<old>` to `head.<new>`. The rename is
//   the commit: of all writers that started from one version, only one still finds the old name.
// - A key is created and deleted by renaming its whole folder from or to `.tmp`. A folder cannot replace one that is not
//   empty, and a writer that knows a version of a deleted key no longer finds its head, even if the key is created again.
// - There are no locks, so none can be left behind. Files of a killed process are never read: the next write of the key
//   removes superseded versions, and the first write of another process removes abandoned files in `.tmp`.
// - Small values and deletions become durable through a log, see write-log.ts, larger values by syncing their files.
import { open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { concatChunks, streamOf } from "./chunks.js";
import {
  codeOf,
  ifExists,
  isDone,
  makeFolder,
  makeNewFolder,
  readFile,
  remove,
  rename,
  streamFile,
  syncFolder,
  writeNew,
} from "./disk.js";
import {
  type CurrentVersion,
  findCurrent,
  firstVersion,
  folderOf,
  formatHead,
  HEAD,
  keysIn,
  numberOf,
  valueInHead,
  versionAfter,
  writeVersion,
} from "./key-folder.js";
import { removeAbandoned, uniqueName } from "./processes.js";
import { recover } from "./recovery.js";
import {
  type Condition,
  checkKey,
  checkPrefix,
  isConditionMet,
  type Range,
  type StoredValue,
  type StreamingStore,
} from "./store.js";
import { currentBoot, type LogEntry, logTime, WriteLog } from "./write-log.js";

/** Retries after losing a race with another process. */
const TRIES = 100;
/** Interval between two removals of abandoned files, in milliseconds. */
const CLEANUP_INTERVAL_MS = 3600_000;
/** Values up to this size are logged. Larger ones are synced in their own files, so that they are not written twice. */
const LOGGED_BYTES = 16 * 1024;

/** The folders of a store, and its log; `null` if each file is synced instead. */
interface StoreFolder {
  root: string;
  tmp: string;
  log: WriteLog | null;
}

/** A store in a local folder of its own, which the first write creates. */
export class FileStore implements StreamingStore {
  readonly #folder: StoreFolder;
  readonly #boot: string | null;
  #cleaning: Promise<void> | null = null;
  #recovering: Promise<void> | null = null;

  /** @param boot - the boot ID; `null` on systems without one */
  constructor(folder: string, boot: string | null = currentBoot()) {
    const root = resolve(folder);
    this.#folder = { root, tmp: join(root, ".tmp"), log: boot === null ? null : new WriteLog(root, boot) };
    this.#boot = boot;
  }

  async get(key: string): Promise<StoredValue | null> {
    checkKey(key);
    const place = folderOf(this.#folder.root, key);
    return this.#run(() =>
      withRetries(key, async () => {
        const current = await findCurrent(place);
        if (!current) return current;
        const bytes = isInHead(current)
          ? await valueInHead(place, current.version)
          : await ifExists(readFile(join(place, current.version)));
        return bytes ? { bytes, etag: current.version } : undefined;
      }),
    );
  }

  async put(key: string, bytes: Uint8Array, condition?: Condition): Promise<string | null> {
    checkKey(key);
    return this.#run(async () => {
      if (condition && "isNew" in condition) return (await this.#create(key, bytes)) ?? null;
      return withRetries(key, async () => {
        const current = await findCurrent(folderOf(this.#folder.root, key));
        if (current === undefined) return undefined;
        if (!isConditionMet(condition, current?.version ?? null)) return null;
        return current ? replaceValue(this.#folder, key, current, bytes) : this.#create(key, bytes);
      });
    });
  }

  async write(key: string, chunks: AsyncIterable<Uint8Array>, size: number): Promise<void> {
    checkKey(key);
    await this.#run(async () => {
      const value = size > LOGGED_BYTES ? chunks : await concatChunks(chunks);
      if ((await this.#create(key, value)) === undefined) {
        throw new TwtxtError("store-failed", `${key} exists already. Streamed values are never replaced.`);
      }
    });
  }

  async read(key: string, range?: Range): Promise<ReadableStream<Uint8Array> | null> {
    checkKey(key);
    const place = folderOf(this.#folder.root, key);
    return this.#run(() => withRetries(key, () => readCurrent(place, range)));
  }

  async delete(key: string): Promise<void> {
    checkKey(key);
    await this.#run(() => deleteKey(this.#folder, key));
  }

  async keys(prefix: string): Promise<string[]> {
    checkPrefix(prefix);
    return this.#run(() => keysIn(this.#folder.root, prefix));
  }

  /** @returns `undefined` if the key exists; then nothing was written */
  async #create(key: string, value: Uint8Array | AsyncIterable<Uint8Array>): Promise<string | undefined> {
    await this.#cleanUp();
    return createKey(this.#folder, key, value);
  }

  /** Runs an operation after the recovery, and turns its errors into `store-failed`. */
  async #run<T>(operation: () => Promise<T>): Promise<T> {
    try {
      await this.#recover();
      return await operation();
    } catch (error) {
      if (error instanceof TwtxtError) throw error;
      throw new TwtxtError("store-failed", `The store in ${this.#folder.root} failed: ${(error as Error).message}.`, {
        cause: error,
      });
    }
  }

  #recover(): Promise<void> {
    this.#recovering ??= recover(this.#folder.root, this.#boot).catch((error) => {
      this.#recovering = null;
      throw error;
    });
    return this.#recovering;
  }

  #cleanUp(): Promise<void> {
    this.#cleaning ??= removeAbandoned(this.#folder.tmp).finally(() => {
      setTimeout(() => {
        this.#cleaning = null;
      }, CLEANUP_INTERVAL_MS).unref();
    });
    return this.#cleaning;
  }
}

/** @returns `null` and `undefined` as in {@link findCurrent} */
async function readCurrent(place: string, range?: Range): Promise<ReadableStream<Uint8Array> | null | undefined> {
  const current = await findCurrent(place);
  if (!current) return current;
  if (isInHead(current)) {
    const bytes = await valueInHead(place, current.version);
    return bytes && streamOf(bytes, range);
  }
  const handle = await ifExists(open(join(place, current.version)));
  return handle ? streamFile(handle, range) : undefined;
}

function isInHead({ version, names }: CurrentVersion): boolean {
  return !names.includes(version);
}

/** @param attempt - returns `undefined` after losing a race with another process */
async function withRetries<T>(key: string, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = await attempt();
    if (answer !== undefined) return answer;
  }
  throw new TwtxtError(
    "store-failed",
    `The value of ${key} cannot be read: its folder is damaged, or other processes changed it ${TRIES} times in a row.`,
  );
}

/** @returns `undefined` if another process has replaced or deleted the value; then nothing was written */
async function replaceValue(
  { root, log }: StoreFolder,
  key: string,
  { version: old, names }: CurrentVersion,
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
  // Writers of superseded versions have lost: the head that they would rename is gone.
  const superseded = names.filter((name) => numberOf(name) <= numberOf(version));
  await Promise.all(superseded.map((name) => remove(join(place, name))));
  return version;
}

/** @returns `undefined` if another process has created the key meanwhile; then nothing was written */
async function createKey(
  { root, tmp, log }: StoreFolder,
  key: string,
  value: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<string | undefined> {
  const place = folderOf(root, key);
  const made = join(tmp, uniqueName());
  const logged = log && value instanceof Uint8Array && isSmall(value) ? value : null;
  const version = firstVersion(logged);
  try {
    await makeNewFolder(made);
    if (logged) {
      await writeNew(join(made, HEAD + version), formatHead(version, logged), { flush: false });
    } else {
      await writeVersion(made, version, value);
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

/** @param logged - the value; `null` if its own file is synced */
function entryOf(change: Pick<LogEntry, "key" | "version" | "at">, logged: Uint8Array | null): Omit<LogEntry, "until"> {
  return { ...change, change: logged ? "value" : "synced", bytes: logged ?? new Uint8Array() };
}

/**
 * Moves a folder to its place and makes its parents.
 *
 * @returns the topmost folder that was new, if any, and the time before the move; `null` if the place is taken
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

/** Moves a key's folder away before removing it, so that no process sees it half removed. */
async function deleteKey({ root, tmp, log }: StoreFolder, key: string): Promise<void> {
  const place = folderOf(root, key);
  const away = join(tmp, uniqueName());
  const at = logTime();
  await makeFolder(tmp);
  if (!(await isDone(rename(place, away)))) return;
  const gone = log && (await findCurrent(away));
  if (gone) await log.append({ key, version: gone.version, at, change: "deleted", bytes: new Uint8Array() });
  else await syncFolder(dirname(place));
  await remove(away);
}
