// plugin/store/sqlite-connection.ts: the connection of a store to its database, which other processes share.
//
// All calls of SQLite are synchronous, so nothing of this process runs between the steps of a transaction. Where another
// process holds the lock, this one waits without blocking the event loop.
import { accessSync, closeSync, constants, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { errorCode, makeFolder, syncFolder } from "./disk.js";
import { checkFormat, FORMAT } from "./format.js";
import { retry } from "./retry.js";
import { BUSY, type Database, isNotWritable, openDatabase, resultCode } from "./sqlite-driver.js";
import { Rows, SCHEMA, type Step, type StepResult } from "./sqlite-rows.js";

const FILE = "store.db";
/** Longest wait for the lock of another process, in milliseconds. */
const LOCK_MS = 30_000;
/** Longest pause between two tries to get it, in milliseconds. */
const PAUSE_MS = 10;
/** Longest blocking wait while a database is opened, in milliseconds. */
const OPENING_MS = 50;
/** A connection without use is closed after one to two of these intervals, in milliseconds. */
const IDLE_MS = 10_000;
/** How long a connection that cannot write is used, in milliseconds. */
const READ_ONLY_MS = 1000;
/** The write-ahead log keeps at most this size after a checkpoint, in bytes. */
const LOG_BYTES = 16 * 2 ** 20;

/** A connection that is opened when it is needed, and closed after some seconds without use. */
export class Connection {
  readonly file: string;
  #rows: Rows | null = null;
  #isReadOnly = false;
  #openedAt = 0;
  #isUsed = false;
  #isKeptOpen = false;
  #idleTimer: NodeJS.Timeout | undefined;

  /** @param root - the folder of the store, absolute */
  constructor(private readonly root: string) {
    this.file = join(root, FILE);
  }

  /** Reads rows. A database that cannot be written can be read. @returns `null` if there is no database */
  read<T>(work: (rows: Rows) => T): Promise<T | null> {
    return withRetries(() => {
      // It shows no later changes, so the disk may be writable by now.
      if (this.#isReadOnly && performance.now() - this.#openedAt > READ_ONLY_MS) this.close();
      if (this.#rows) return work(this.#use(this.#rows));
      if (!isThere(this.file)) return null;
      const { rows, isReadOnly } = openToRead(this.root, this.file);
      this.#isReadOnly = isReadOnly;
      return work(this.#use(rows));
    });
  }

  async commit(steps: readonly Step[]): Promise<StepResult[]> {
    await this.prepareToWrite();
    try {
      return await withRetries(() => this.#use(this.#openToWrite()).commit(steps));
    } catch (error) {
      // SQLite may have opened a file that was read-only at that time.
      this.close();
      throw error;
    }
  }

  /** Creates the database if there is none. */
  async prepareToWrite(): Promise<void> {
    if (this.#rows && !this.#isReadOnly) return;
    if (!isThere(this.file)) await createFile(this.root, this.file);
    await withRetries(() => void this.#use(this.#openToWrite()));
  }

  /** A connection of its own that shows the database as it is now. @returns `null` if there is no database */
  openSnapshot(): Promise<Rows | null> {
    return withRetries(() => {
      if (!isThere(this.file)) return null;
      const { rows } = openToRead(this.root, this.file);
      rows.startSnapshot();
      return rows;
    });
  }

  /** From now on, it also stays open without use: closing deletes the log, and a full disk may have no inode for a new one. */
  keepOpen(): void {
    this.#isKeptOpen = true;
  }

  close(): void {
    clearInterval(this.#idleTimer);
    this.#rows?.close();
    this.#rows = null;
    this.#isReadOnly = false;
  }

  #openToWrite(): Rows {
    if (this.#rows && !this.#isReadOnly) return this.#rows;
    this.close();
    const rows = openToWrite(this.root, this.file);
    this.#isReadOnly = false;
    return rows;
  }

  #use(rows: Rows): Rows {
    this.#isUsed = true;
    if (this.#rows === rows) return rows;
    this.#rows = rows;
    this.#openedAt = performance.now();
    clearInterval(this.#idleTimer);
    this.#idleTimer = setInterval(() => {
      if (!this.#isUsed && !this.#isKeptOpen) this.close();
      this.#isUsed = false;
    }, IDLE_MS).unref();
    return rows;
  }
}

function withRetries<T>(work: () => T): Promise<T> {
  return retry(work, { pauses: lockPauses(), mayRepeat: (error) => resultCode(error) === BUSY });
}

function* lockPauses(): Iterable<number> {
  for (const deadline = performance.now() + LOCK_MS; performance.now() <= deadline; )
    yield 1 + Math.random() * PAUSE_MS;
}

/** @throws Error of the file system if that is unknown */
function isThere(file: string): boolean {
  try {
    accessSync(file);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

/** Creates an empty file, which is a valid database, readable only by the owner. */
async function createFile(root: string, file: string): Promise<void> {
  const firstNew = await makeFolder(root);
  try {
    // In one step: closing it later could drop the locks of another connection of this process.
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
  await syncFolder(root, firstNew);
}

function openToRead(root: string, file: string): { rows: Rows; isReadOnly: boolean } {
  try {
    return { rows: openToWrite(root, file), isReadOnly: false };
  } catch (error) {
    if (!isNotWritable(error)) throw error;
    return { rows: openReadOnly(root, file), isReadOnly: true };
  }
}

function openToWrite(root: string, file: string): Rows {
  // SQLite opens a file of a read-only file system without an error, and keeps it read-only in all of this process.
  accessSync(file, constants.W_OK);
  return openWith(openDatabase(file), (database) => {
    database.exec(`PRAGMA busy_timeout = ${OPENING_MS}`);
    const format = readFormat(database);
    checkFormat(format, root);
    database.exec("PRAGMA journal_mode = WAL");
    database.exec(`PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${LOG_BYTES}`);
    if (format < FORMAT) database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
    database.exec("PRAGMA busy_timeout = 0");
  });
}

function openReadOnly(root: string, file: string): Rows {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  // Without its files beside it, which cannot be created here, a database can be read only as one that never changes.
  const name = log?.size ? file : `${pathToFileURL(file)}?immutable=1`;
  return openWith(openDatabase(name, { isReadOnly: true }), (database) => checkFormat(readFormat(database), root));
}

function openWith(database: Database, prepare: (database: Database) => void): Rows {
  try {
    prepare(database);
    return new Rows(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function readFormat(database: Database): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}
