// plugin/store/sqlite.ts: store in an SQLite database in a folder, shared by processes that may be killed at any moment.
//
// `store.db` has a row for each key. A value of more than 64 KiB is a file beside it, which the row names. Writes are
// transactions, durable when they are acknowledged (WAL with synchronous=FULL).
import { resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { TwtxtError } from "../errors.js";
import { concatChunks } from "./chunks.js";
import { errorCode } from "./disk.js";
import { SpaceReserve } from "./space-reserve.js";
import { Connection } from "./sqlite-connection.js";
import { SqliteReader, withStoreErrors } from "./sqlite-reader.js";
import type { Step, StepResult } from "./sqlite-rows.js";
import { type Condition, checkKey, type StreamingStore } from "./store.js";
import { ValueFiles } from "./value-files.js";
import { type Change, WriteQueue } from "./write-queue.js";
import { WriteThread } from "./write-thread.js";

const ROW_BYTES = 64 * 1024;
/** Interval between two sweeps of abandoned files, in milliseconds. */
const SWEEP_INTERVAL_MS = 3600_000;
const CHECKED_AT_ONCE = 1000;
/** Reads in one turn of the event loop: some milliseconds. */
const READS = 100;
/** A key that is written and deleted to find out whether that is possible. */
const TRIAL = "trials/write";

export interface StoreSnapshot extends Pick<StreamingStore, "get" | "read" | "keys"> {
  close(): Promise<void>;
}

/** A store in a local folder of its own, which the first write creates. */
export class SqliteStore extends SqliteReader implements StreamingStore {
  readonly #connection: Connection;
  readonly #reserve: SpaceReserve;
  readonly #writes: WriteQueue;
  #hasFailed = false;
  /** Commits transactions; `null` if this thread does. */
  #thread: WriteThread | null = null;
  #sweeping: Promise<void> | null = null;

  constructor(folder: string) {
    const root = resolve(folder);
    const connection = new Connection(root);
    const waitForTurn = createReadTurns();
    super({
      root,
      files: new ValueFiles(root),
      query: async (work) => {
        await waitForTurn();
        return connection.read(work);
      },
    });
    this.#connection = connection;
    this.#reserve = new SpaceReserve(root);
    this.#writes = new WriteQueue((steps) => this.#commit(steps), this.#reserve);
  }

  async put(key: string, bytes: Uint8Array, condition?: Condition): Promise<string | null> {
    checkKey(key);
    return withStoreErrors(this.options.root, async () => {
      if (bytes.length > ROW_BYTES) return this.#putFile(key, bytes, bytes.length, condition);
      return this.#change({ key, value: { bytes, file: null, size: bytes.length }, condition });
    });
  }

  async write(key: string, chunks: AsyncIterable<Uint8Array>, size: number): Promise<void> {
    checkKey(key);
    const isNew = { isNew: true } as const;
    await withStoreErrors(this.options.root, async () => {
      const etag = await (size > ROW_BYTES
        ? this.#putFile(key, chunks, size, isNew)
        : this.put(key, await concatChunks(chunks), isNew));
      if (etag === null) {
        throw new TwtxtError("store-failed", `${key} exists already. Streamed values are never replaced.`);
      }
    });
  }

  async delete(key: string): Promise<void> {
    checkKey(key);
    await withStoreErrors(this.options.root, async () => {
      // A missing key needs no transaction, and no database.
      if (!(await this.#connection.read((rows) => rows.has(key)))) return;
      await this.#change({ key, value: null });
    });
  }

  /** Prepares for a process that runs for long: writes do not block it, and a full disk lets it delete values. */
  async prepareForServer(): Promise<void> {
    this.#thread ??= new WriteThread(this.#connection.file);
    this.#connection.keepOpen();
    await this.#reserve.make();
  }

  /** Costs nothing unless the last write failed: then it tries another one. */
  async checkWritable(): Promise<void> {
    await withStoreErrors(this.options.root, async () => {
      await this.#reserve.checkSpace();
      if (!this.#hasFailed) return;
      await this.#change({ key: TRIAL, value: { bytes: new Uint8Array(), file: null, size: 0 } });
      await this.#change({ key: TRIAL, value: null });
    });
  }

  /** The values as they are now; later changes by this or other processes do not show. */
  async snapshot(): Promise<StoreSnapshot> {
    return withStoreErrors(this.options.root, async () => {
      const isEmpty = (await this.#connection.read(() => false)) ?? true;
      const release = isEmpty ? async () => {} : await this.options.files.keepForSnapshot();
      const rows = await this.#connection.openSnapshot();
      const reader = new SqliteReader({
        root: this.options.root,
        files: this.options.files,
        query: async (work) => rows && work(rows),
      });
      const close = async () => {
        rows?.close();
        await release();
      };
      return { get: (k) => reader.get(k), read: (k, r) => reader.read(k, r), keys: (p) => reader.keys(p), close };
    });
  }

  /** Checks the structure of the database and the files of its values. @returns what is damaged; empty if nothing is */
  async check(): Promise<string[]> {
    return withStoreErrors(this.options.root, async () => {
      const found = (await this.#connection.read((rows) => rows.check())) ?? [];
      const missing: string[] = [];
      for (let after = ""; ; ) {
        const page = (await this.#connection.read((rows) => rows.listFiles(after, CHECKED_AT_ONCE))) ?? [];
        for (const { key, file, size } of page) {
          if ((await this.options.files.size(file)) !== size)
            missing.push(`the file files/${file} with the value of ${key}`);
        }
        if (page.length < CHECKED_AT_ONCE) return [...found, ...missing];
        after = page.at(-1)?.key ?? "";
      }
    });
  }

  /** Closes the database. It is opened again when it is used. */
  close(): void {
    this.#thread?.stop();
    this.#connection.close();
  }

  async #commit(steps: readonly Step[]): Promise<StepResult[]> {
    if (!this.#thread) return this.#connection.commit(steps);
    await this.#connection.prepareToWrite();
    return this.#thread.commit(steps).catch((error) => {
      if (errorCode(error) !== "MODULE_NOT_FOUND") throw error;
      // The package libsql was removed since, so that no further thread can load it.
      this.#thread = null;
      return this.#connection.commit(steps);
    });
  }

  async #putFile(
    key: string,
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
    size: number,
    condition: Condition | undefined,
  ): Promise<string | null> {
    await this.#reserve.checkSpace();
    const file = await this.options.files.write(bytes, size);
    const etag = await this.#change({ key, value: { bytes: null, file, size }, condition });
    if (etag === null) await this.options.files.remove([file]);
    return etag;
  }

  async #change(change: Change): Promise<string | null> {
    const { etag, formerFile } = await this.#writes.add(change).catch((error) => {
      this.#hasFailed = true;
      throw error;
    });
    this.#hasFailed = false;
    if (formerFile !== null) await this.options.files.remove([formerFile]);
    this.#sweeping ??= this.#sweep();
    return etag;
  }

  /** Removes abandoned files once an hour: another process may be killed while this one runs. */
  async #sweep(): Promise<void> {
    setTimeout(() => {
      this.#sweeping = null;
    }, SWEEP_INTERVAL_MS).unref();
    try {
      const abandoned = this.options.files.findAbandoned();
      const unused = await this.#connection.read((rows) => abandoned.filter((name) => !rows.hasFile(name)));
      await this.options.files.remove(unused ?? []);
    } catch {
      // They do no harm, and are found again.
    }
  }
}

/**
 * A read of a database resolves without leaving the microtask queue. A loop of reads would keep timers and connections
 * waiting until its end, so each hundred of reads waits for a turn of the event loop.
 */
function createReadTurns(): () => Promise<void> {
  let turn = Promise.resolve();
  let count = 0;
  return () => {
    count += 1;
    if (count % READS === 0) turn = turn.then(() => setImmediate());
    return turn;
  };
}
