// plugin/store/sqlite-rows.ts: the table of a store, one row for each key, and statements on it.
import { remember } from "../groups.js";
import { FORMAT } from "./format.js";
import type { Database, SqlRow, SqlValue, Statement } from "./sqlite-driver.js";
import type { FolderSurvey, ListRange } from "./store.js";

/**
 * `value` is NULL for a value in a file, `file` for others. `etag` is random, so that it is never used twice. Keys are
 * compared by their bytes, and have an index of their own, so that listing them reads no values. `folder_end`, `id_at` and
 * `number` say where `parseEntry` finds the parts of the key of an entry; they are NULL for other keys. Few folders have
 * entries with the same id. Triggers count the entries of each folder, and note its last key, see `Store.survey`.
 */
export const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    etag TEXT NOT NULL,
    size INTEGER NOT NULL,
    folder_end INTEGER,
    id_at INTEGER,
    number INTEGER,
    value BLOB,
    file TEXT,
    folder TEXT AS (substr(key, 1, folder_end)),
    entry_id TEXT AS (substr(key, id_at, 64))
  ) STRICT;
  CREATE INDEX IF NOT EXISTS files ON entries (file) WHERE file IS NOT NULL;
  CREATE INDEX IF NOT EXISTS entry_ids ON entries (entry_id) WHERE number IS NOT NULL;
  CREATE TABLE IF NOT EXISTS folders (
    name TEXT PRIMARY KEY,
    count INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    last TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS count_new AFTER INSERT ON entries WHEN new.number IS NOT NULL BEGIN
    INSERT INTO folders VALUES (new.folder, 1, new.number, new.key)
      ON CONFLICT (name) DO UPDATE SET count = count + 1, sum = sum + excluded.sum, last = max(last, excluded.last);
  END;
  CREATE TRIGGER IF NOT EXISTS count_deleted AFTER DELETE ON entries WHEN old.number IS NOT NULL BEGIN
    UPDATE folders SET count = count - 1, sum = sum - old.number WHERE name = old.folder;
    UPDATE folders SET last = (
      SELECT key FROM entries WHERE key > name AND key < old.key AND folder_end = old.folder_end ORDER BY key DESC LIMIT 1
    ) WHERE name = old.folder AND last = old.key;
    DELETE FROM folders WHERE name = old.folder AND count = 0;
  END;
  PRAGMA user_version = ${FORMAT};`;

/** In one row, see {@link Rows.list}. */
const SURVEY = `
  SELECT count, sum, last,
    (SELECT group_concat(key, char(10)) FROM entries WHERE entry_id = ?2 AND folder = ?1 AND number IS NOT NULL) AS found
  FROM folders WHERE name = ?1`;

/** A statement that returns at most one row, and the values of its parameters. */
export type Step = readonly [sql: string, ...values: SqlValue[]];

export type StepResult = SqlRow | undefined;

export interface Entry {
  etag: string;
  /** In bytes. */
  size: number;
  value: Uint8Array | null;
  file: string | null;
}

interface FileEntry {
  key: string;
  file: string;
  size: number;
}

export class Rows {
  readonly #statements = new Map<string, Statement>();

  constructor(private readonly database: Database) {}

  find(key: string): Entry | undefined {
    const sql = "SELECT etag, size, value, file FROM entries WHERE key = ?";
    const found = this.#prepared(sql).get(key);
    if (!found) return undefined;
    const { etag, size, value, file } = found;
    return { etag, size, value: file === null ? toBuffer(value) : null, file } as Entry;
  }

  has(key: string): boolean {
    return this.#prepared("SELECT 1 FROM entries WHERE key = ?").get(key) !== undefined;
  }

  list(prefix: string, { after, limit, isReversed = false }: ListRange): string[] {
    const order = isReversed ? "DESC" : "ASC";
    const page = `SELECT key FROM entries WHERE key > ? AND key >= ? AND key < ? ORDER BY key ${order} LIMIT ?`;
    // In one row, because libsql takes ten microseconds for each.
    const sql = `SELECT group_concat(key, char(10)) AS keys FROM (${page})`;
    // Keys are ASCII, so DEL follows all that may come after the prefix.
    const end = `${prefix}\x7f`;
    const bounds = isReversed
      ? ["", prefix, after !== undefined && after < end ? after : end]
      : [after ?? "", prefix, end];
    const keys = readKeys(this.#prepared(sql).get(...bounds, limit)?.keys);
    return isReversed ? keys.reverse() : keys;
  }

  survey(folder: string, id: string): FolderSurvey {
    const totals = this.#prepared(SURVEY).get(folder, id);
    return {
      count: Number(totals?.count ?? 0),
      sum: Number(totals?.sum ?? 0),
      last: (totals?.last as string | undefined) ?? null,
      found: readKeys(totals?.found),
    };
  }

  hasFile(name: string): boolean {
    return this.#prepared("SELECT 1 FROM entries WHERE file = ?").get(name) !== undefined;
  }

  listFiles(after: string, limit: number): FileEntry[] {
    const sql = "SELECT key, file, size FROM entries WHERE file IS NOT NULL AND key > ? ORDER BY key LIMIT ?";
    return this.#prepared(sql).all(after, limit) as unknown as FileEntry[];
  }

  /** What is wrong with the structure of the database, in SQLite's words; empty if nothing is. */
  check(): string[] {
    const found = this.#prepared("PRAGMA quick_check").all();
    return found.map((row) => String(row.quick_check)).filter((text) => text !== "ok");
  }

  commit(steps: readonly Step[]): StepResult[] {
    this.database.exec("BEGIN IMMEDIATE");
    try {
      const results = steps.map(([sql, ...values]) => this.#prepared(sql).get(...values));
      this.database.exec("COMMIT");
      return results;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** From here on, shows the database as it is now. */
  startSnapshot(): void {
    this.database.exec("BEGIN");
    this.list("", { limit: 1 });
  }

  close(): void {
    // libsql closes a database only with its last statement, so a snapshot would keep the log from starting again.
    this.#rollBack();
    this.database.close();
  }

  #prepared(sql: string): Statement {
    return remember(this.#statements, sql, () => this.database.prepare(sql));
  }

  #rollBack(): void {
    try {
      this.database.exec("ROLLBACK");
    } catch {
      // There is no transaction, or SQLite has rolled it back already.
    }
  }
}

/** Keys that `group_concat` has joined, in order. */
function readKeys(joined: SqlValue | undefined): string[] {
  return typeof joined === "string" ? joined.split("\n").sort() : [];
}

/** The engines return bytes as `Uint8Array` or as `Buffer`, and Node.js 22 stores an empty value of another thread as NULL. */
function toBuffer(value: SqlValue | undefined): Buffer {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : Buffer.alloc(0);
}
