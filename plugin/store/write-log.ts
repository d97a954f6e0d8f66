// plugin/store/write-log.ts: write log of a file store, with group commit.
//
// All processes read and write the files of the store, which are not synced at each change. A change is acknowledged once
// it is in a log, and one sync of the log covers all changes that are waiting. Logs are read only after the machine
// stopped without writing its files to the disk, see recovery.ts.
//
// - `.log/<boot>/` has one log for each process that has written since the machine started; `<boot>` is the boot ID.
// - `.log/<boot>.<time>/` is a closed folder of logs. A checkpoint syncs every file that they name, then removes the
//   folder, oldest first. A process that finds its log closed after a sync writes the entries to a new log before it
//   acknowledges them.
// - An entry is the length of its content (4 bytes, little endian), the first 8 bytes of the content's SHA-256, and the
//   content: a line of JSON, then the bytes of the value.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile, rename } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { codeOf, ifExists, isDone, makeFolder, remove, syncFile, syncFolder } from "./disk.js";
import { findCurrent, folderOf, isOwn, lifeOf } from "./key-folder.js";
import { uniqueName } from "./processes.js";

/** The folder of all logs. No store key starts with a dot. */
export const LOGS = ".log";
/** Larger logs are closed. */
const MAX_BYTES = 64 * 2 ** 20;
/** Older logs are closed. */
const MAX_AGE_MS = 60_000;
/** When a process opens one log more than this, all are closed: most belong to processes that have ended. */
const MAX_LOGS = 20;

const CHECKSUM_BYTES = 8;
const HEADER_BYTES = 4 + CHECKSUM_BYTES;
const NEWLINE = 10;

/** A change of a key. */
export interface LogEntry {
  key: string;
  /** The version that was written or deleted. */
  version: string;
  /** Time just before the change, see `logTime`. */
  at: number;
  /** A time at which the change was made already. */
  until: number;
  /** `value`: `bytes` is the value. `synced`: the value is in its own, synced file. `deleted`: the key was deleted. */
  change: "value" | "synced" | "deleted";
  bytes: Uint8Array;
}

interface PendingEntry {
  entry: LogEntry;
  resolve(): void;
  reject(error: unknown): void;
}

interface OwnLog {
  path: string;
  handle: FileHandle;
  bytes: number;
  /** When the log was opened. Older logs may have later changes of a key that was changed before. */
  since: number;
  timer: NodeJS.Timeout;
}

/** The boot ID of the machine; `null` on systems without one, where nothing can be logged. */
export function currentBoot(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return null;
  }
}

/** Time of log entries in nanoseconds: monotonic, and the same clock for all processes. */
export function logTime(): number {
  return Number(process.hrtime.bigint());
}

/** Writes this process's log of a store. */
export class WriteLog {
  readonly #root: string;
  readonly #boot: string;
  readonly #pending: PendingEntry[] = [];
  #isWriting = false;
  #isCloseDue = false;
  #own: OwnLog | null = null;
  #checkpointing: Promise<void> = Promise.resolve();

  constructor(root: string, boot: string) {
    this.#root = root;
    this.#boot = boot;
  }

  /** Makes a change durable. Its files must be written, but need not be synced. */
  append(change: Omit<LogEntry, "until">): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ entry: { ...change, until: logTime() }, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  /** Closes all logs and waits for the checkpoint. */
  async close(): Promise<void> {
    this.#isCloseDue = true;
    if (!this.#isWriting) await this.#writeAll();
    await this.#checkpointing;
  }

  /** Writes pending entries in batches: entries that arrive during a sync share the next one. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#pending.length > 0 || this.#isCloseDue) {
      if (this.#isCloseDue) await this.#closeLogs();
      const batch = this.#pending.splice(0);
      try {
        await this.#write(batch.map(({ entry }) => entry));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        // Readers stop at an incomplete entry, so the next batch needs a new log.
        await this.#releaseOwn();
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isWriting = false;
  }

  async #write(entries: readonly LogEntry[]): Promise<void> {
    if (entries.length === 0) return;
    for (;;) {
      this.#own ??= await this.#openOwn();
      const { handle, path, since } = this.#own;
      // A log can be cut off after any entry: a deletion stands before the change that it ends.
      const deleted = await this.#deletedBefore(entries.filter(({ at }) => at < since));
      const bytes = Buffer.concat([...deleted, ...entries].map(formatEntry));
      await handle.appendFile(bytes);
      await handle.datasync();
      this.#own.bytes += bytes.length;
      if (existsSync(path)) break;
      await this.#releaseOwn();
    }
    this.#isCloseDue ||= this.#own.bytes > MAX_BYTES;
  }

  /** The deletions of keys that no longer exist. An older log may have them, but it is removed earlier than this one. */
  async #deletedBefore(entries: readonly LogEntry[]): Promise<LogEntry[]> {
    const deleted: LogEntry[] = [];
    for (const entry of entries) {
      if (entry.change === "deleted") continue;
      const current = await findCurrent(folderOf(this.#root, entry.key));
      // `undefined`: the head is being renamed, so the key exists.
      const exists = current === undefined || (current && lifeOf(current.version) === lifeOf(entry.version));
      if (!exists) deleted.push({ ...entry, change: "deleted", bytes: new Uint8Array() });
    }
    return deleted;
  }

  async #openOwn(): Promise<OwnLog> {
    for (;;) {
      const own = await ifExists(this.#makeOwn());
      if (own) return own;
    }
  }

  /** @throws `ENOENT` where another process closes the log at this moment */
  async #makeOwn(): Promise<OwnLog> {
    const all = join(this.#root, LOGS);
    const folder = join(all, this.#boot);
    const firstNew = (await makeFolder(all)) ?? all;
    // makeFolder would fail if the folder is renamed between its mkdir and its stat.
    await mkdir(folder, { mode: 0o700 }).catch((error) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
    const path = join(folder, uniqueName());
    const handle = await open(path, "ax", 0o600);
    const since = logTime();
    try {
      await handle.sync();
      // Another process may have just made the folder and not synced it yet.
      await syncFolder(folder, firstNew);
    } catch (error) {
      await handle.close();
      throw error;
    }
    this.#isCloseDue ||= ((await ifExists(readdir(folder))) ?? []).length > MAX_LOGS;
    const timer = setTimeout(() => void this.close(), MAX_AGE_MS).unref();
    return { path, handle, bytes: 0, since, timer };
  }

  async #releaseOwn(): Promise<void> {
    clearTimeout(this.#own?.timer);
    await this.#own?.handle.close().catch(() => {});
    this.#own = null;
  }

  async #closeLogs(): Promise<void> {
    this.#isCloseDue = false;
    await this.#releaseOwn();
    const folder = join(this.#root, LOGS, this.#boot);
    const time = String(logTime()).padStart(20, "0");
    // If this fails, the logs stay and are closed together with the next ones.
    await rename(folder, `${folder}.${time}`).catch(() => {});
    this.#checkpointing = this.#checkpointing.then(() => checkpoint(this.#root, this.#boot)).catch(() => {});
  }
}

/** All entries in a folder of logs. */
export async function entriesIn(folder: string): Promise<LogEntry[]> {
  const files = ((await ifExists(readdir(folder, { withFileTypes: true }))) ?? []).filter((file) => file.isFile());
  const entries: LogEntry[][] = [];
  for (const { name } of files)
    entries.push(parseEntries((await ifExists(readFile(join(folder, name)))) ?? Buffer.alloc(0)));
  return entries.flat();
}

/** Removes a folder atomically and durably. */
export async function discardFolder(root: string, folder: string): Promise<void> {
  const away = join(root, ".tmp", uniqueName());
  await makeFolder(dirname(away));
  if (await isDone(rename(folder, away))) await syncFolder(dirname(folder));
  await remove(away);
}

/** Syncs the files that closed logs name, then removes these logs. */
async function checkpoint(root: string, boot: string): Promise<void> {
  const names = (await ifExists(readdir(join(root, LOGS)))) ?? [];
  const closed = names.filter((name) => name.startsWith(`${boot}.`)).sort();
  const folders = closed.map((name) => join(root, LOGS, name));
  const keys = new Set<string>();
  for (const folder of folders) for (const { key } of await entriesIn(folder)) keys.add(key);
  await syncKeys(root, keys);
  for (const folder of folders) await discardFolder(root, folder);
}

/** Makes the current values of keys, or their deletion, durable. */
export async function syncKeys(root: string, keys: Iterable<string>): Promise<void> {
  const above = new Set([root]);
  for (const key of keys) {
    const place = folderOf(root, key);
    while (!(await syncAllIn(place)));
    for (let path = dirname(place); relative(root, path) !== ""; path = dirname(path)) above.add(path);
  }
  for (const path of above) await isDone(syncFolder(path));
}

/** @returns `false` if a file was renamed or removed before it was synced: under its new name it may have a value */
async function syncAllIn(place: string): Promise<boolean> {
  for (const name of (await ifExists(readdir(place))) ?? []) {
    if (isOwn(name) && !(await isDone(syncFile(join(place, name))))) return false;
  }
  await isDone(syncFolder(place));
  return true;
}

function formatEntry({ bytes, ...line }: LogEntry): Buffer {
  const content = Buffer.concat([Buffer.from(`${JSON.stringify(line)}\n`), bytes]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(content.length);
  return Buffer.concat([length, checksumOf(content), content]);
}

/** The entries of a log up to the first incomplete one. */
function parseEntries(log: Buffer): LogEntry[] {
  const entries: LogEntry[] = [];
  let at = 0;
  while (at + HEADER_BYTES <= log.length) {
    const end = at + HEADER_BYTES + log.readUInt32LE(at);
    const checksum = log.subarray(at + 4, at + HEADER_BYTES);
    const content = log.subarray(at + HEADER_BYTES, end);
    if (end > log.length || !checksumOf(content).equals(checksum)) break;
    const line = content.indexOf(NEWLINE);
    entries.push({ ...JSON.parse(content.toString("utf8", 0, line)), bytes: content.subarray(line + 1) });
    at = end;
  }
  return entries;
}

function checksumOf(content: Uint8Array): Buffer {
  return createHash("sha256").update(content).digest().subarray(0, CHECKSUM_BYTES);
}
