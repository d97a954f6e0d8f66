// plugin/store/write-log.ts: makes changes of a file store durable, many with one sync.
//
// The files of a store are what all processes read and write. They are not synced at each change: before a change is
// acknowledged, it stands in a log, which is synced once for all changes that wait. The log is read only when the
// machine has stopped without writing its files to the disk, see recovery.ts.
//
// - `.log/<boot>/` has a log of each process that has written since the machine started, `<boot>`.
// - `.log/<boot>.<time>/` was closed: every file that its logs name is synced, and then it is removed, the oldest first.
//   A process that finds its log closed after a sync writes the same entries into a new one before it acknowledges them.
import { existsSync, readFileSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile, rename } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { codeOf, ifThere, isDone, makeFolder, remove, syncFile, syncFolder } from "./disk.js";
import { folderOf, isOwn, lifeOf, look } from "./key-folder.js";
import { nameOfOwn } from "./leftovers.js";
import { formatEntry, type LogEntry, parseEntries } from "./log-entry.js";

/** The folder of all logs. No key of a store starts with a dot. */
export const LOGS = ".log";
/** A log that is larger is closed. */
const MAX_BYTES = 64 * 2 ** 20;
/** A log that is older is closed. */
const MAX_AGE_MS = 60_000;
/** So many logs, nearly all of processes that have ended, are closed when the next one is made. */
const MAX_LOGS = 20;

interface Waiting {
  entry: LogEntry;
  resolve(): void;
  reject(error: unknown): void;
}

interface OwnLog {
  path: string;
  handle: FileHandle;
  bytes: number;
  /** A change before this time may be followed by one in an older log. */
  since: number;
  timer: NodeJS.Timeout;
}

/** Names the time since the machine's start; `null` where the system has no such name: nothing can be logged there. */
export function currentBoot(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return null;
  }
}

/** The clock of log entries. It never goes back, and is the same for all processes. */
export function logTime(): number {
  return Number(process.hrtime.bigint());
}

/** The logs of a store, for one process. */
export class WriteLog {
  readonly #root: string;
  readonly #boot: string;
  readonly #waiting: Waiting[] = [];
  #isWriting = false;
  #isDue = false;
  #own: OwnLog | null = null;
  #folding: Promise<void> = Promise.resolve();

  constructor(root: string, boot: string) {
    this.#root = root;
    this.#boot = boot;
  }

  /** Makes a change durable. Its files are written already, and need not be synced. */
  append(change: Omit<LogEntry, "until">): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry: { ...change, until: logTime() }, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  /** Closes the logs, and is fulfilled when they are not needed any more. */
  async close(): Promise<void> {
    this.#isDue = true;
    if (!this.#isWriting) await this.#writeAll();
    await this.#folding;
  }

  /** Writes what waits, again and again: what comes meanwhile shares the next sync. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0 || this.#isDue) {
      if (this.#isDue) await this.#closeLogs();
      const batch = this.#waiting.splice(0);
      try {
        await this.#write(batch.map(({ entry }) => entry));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        // What follows a part of an entry is not read.
        await this.#leave();
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isWriting = false;
  }

  async #write(entries: readonly LogEntry[]): Promise<void> {
    const bytes = Buffer.concat(entries.map(formatEntry));
    if (bytes.length === 0) return;
    for (;;) {
      this.#own ??= await this.#openOwn();
      const { handle, path } = this.#own;
      await handle.appendFile(bytes);
      await handle.datasync();
      if (existsSync(path)) break;
      await this.#leave();
    }
    this.#own.bytes += bytes.length;
    this.#isDue ||= this.#own.bytes > MAX_BYTES;
    const { since } = this.#own;
    await this.#write(await this.#deletedBefore(entries.filter(({ at }) => at < since)));
  }

  /** Changes of keys that were deleted since: the deletion may stand in an older log, which is removed earlier. */
  async #deletedBefore(entries: readonly LogEntry[]): Promise<LogEntry[]> {
    const deleted: LogEntry[] = [];
    for (const entry of entries) {
      if (entry.change === "deleted") continue;
      const current = await look(folderOf(this.#root, entry.key));
      // While its head is renamed, a key is there.
      const isThere = current === undefined || (current && lifeOf(current.version) === lifeOf(entry.version));
      if (!isThere) deleted.push({ ...entry, change: "deleted", bytes: new Uint8Array() });
    }
    return deleted;
  }

  async #openOwn(): Promise<OwnLog> {
    for (;;) {
      const own = await ifThere(this.#makeOwn());
      if (own) return own;
    }
  }

  /** @throws `ENOENT` where another process closes the log at this moment */
  async #makeOwn(): Promise<OwnLog> {
    const all = join(this.#root, LOGS);
    const folder = join(all, this.#boot);
    const firstNew = (await makeFolder(all)) ?? all;
    // Not with makeFolder, which looks again at what mkdir has found, and fails where it was renamed.
    await mkdir(folder, { mode: 0o700 }).catch((error) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
    const path = join(folder, nameOfOwn());
    const handle = await open(path, "ax", 0o600);
    const since = logTime();
    try {
      await handle.sync();
      // Another process may have made the folder a moment ago, and not synced it yet.
      await syncFolder(folder, firstNew);
    } catch (error) {
      await handle.close();
      throw error;
    }
    this.#isDue ||= ((await ifThere(readdir(folder))) ?? []).length > MAX_LOGS;
    const timer = setTimeout(() => void this.close(), MAX_AGE_MS).unref();
    return { path, handle, bytes: 0, since, timer };
  }

  async #leave(): Promise<void> {
    clearTimeout(this.#own?.timer);
    await this.#own?.handle.close().catch(() => {});
    this.#own = null;
  }

  async #closeLogs(): Promise<void> {
    this.#isDue = false;
    await this.#leave();
    const folder = join(this.#root, LOGS, this.#boot);
    const time = String(logTime()).padStart(20, "0");
    // Where it fails, the logs are kept, and it is tried again with the next ones.
    await rename(folder, `${folder}.${time}`).catch(() => {});
    this.#folding = this.#folding.then(() => fold(this.#root, this.#boot)).catch(() => {});
  }
}

/** All entries in a folder of logs. */
export async function entriesIn(folder: string): Promise<LogEntry[]> {
  const files = ((await ifThere(readdir(folder, { withFileTypes: true }))) ?? []).filter((file) => file.isFile());
  const entries: LogEntry[][] = [];
  for (const { name } of files)
    entries.push(parseEntries((await ifThere(readFile(join(folder, name)))) ?? Buffer.alloc(0)));
  return entries.flat();
}

/** Removes a folder of logs at once, and durably. */
export async function removeLogs(root: string, folder: string): Promise<void> {
  const away = join(root, ".tmp", nameOfOwn());
  await makeFolder(dirname(away));
  if (await isDone(rename(folder, away))) await syncFolder(dirname(folder));
  await remove(away);
}

/** Syncs the files that closed logs name, and removes these logs. */
async function fold(root: string, boot: string): Promise<void> {
  const names = (await ifThere(readdir(join(root, LOGS)))) ?? [];
  const closed = names.filter((name) => name.startsWith(`${boot}.`)).sort();
  const folders = closed.map((name) => join(root, LOGS, name));
  const keys = new Set<string>();
  for (const folder of folders) for (const { key } of await entriesIn(folder)) keys.add(key);
  await syncKeys(root, keys);
  for (const folder of folders) await removeLogs(root, folder);
}

/** Makes keys durable, or that they are deleted. */
async function syncKeys(root: string, keys: Iterable<string>): Promise<void> {
  const above = new Set([root]);
  for (const key of keys) {
    const place = folderOf(root, key);
    while (!(await syncAllIn(place)));
    for (let path = dirname(place); relative(root, path) !== ""; path = dirname(path)) above.add(path);
  }
  for (const path of above) await isDone(syncFolder(path));
}

/** @returns `false` where a file was renamed or removed before it was synced: it may hold a value under its new name */
async function syncAllIn(place: string): Promise<boolean> {
  for (const name of (await ifThere(readdir(place))) ?? []) {
    if (isOwn(name) && !(await isDone(syncFile(join(place, name))))) return false;
  }
  await isDone(syncFolder(place));
  return true;
}
