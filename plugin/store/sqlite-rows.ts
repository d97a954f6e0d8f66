// plugin/store/sqlite-rows.ts: the table of a store, one row for each key, and statements on it.
import { FORMAT } from "./format.js";
import type { Database, SqlRow, SqlValue, Statement } from "./sqlite-driver.js";

/**
 * `value` is NULL for a value in a file, `file` for others. `etag` is random, so that it is never used twice. Keys are
 * compared by their bytes, and have an index of their own, so that listing them reads no values.
 */
export const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    etag TEXT NOT NULL,
    size INTEGER NOT NULL,
    value BLOB,
    file TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS files ON entries (file) WHERE file IS NOT NULL;
  PRAGMA user_version = ${FORMAT};`;

/** A statement that returns at most one row, and the values of its parameters. */
export type Step = readonly [sql: string, ...values: SqlValue[]];

/** The row that a step returned. */
export type StepResult = SqlRow | undefined;

/** The value of a key, or the name of its file. */
export interface Entry {
  etag: string;
  /** In bytes. */
  size: number;
  value: Uint8Array | null;
  file: string | null;
}

/** An entry whose value is in a file. */
interface FileEntry {
  key: string;
  file: string;
  size: number;
}

/** An open database with its prepared statements. */
export class Rows {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  find(key: string): Entry | undefined {
    const sql = "SELECT etag, size, value, file FROM entries WHERE key = ?";
    const found = this.#prepared(sql).get(key);
    return found && ({ ...found, value: toBuffer(found.value) } as Entry);
  }

  has(key: string): boolean {
    return this.#prepared("SELECT 1 FROM entries WHERE key = ?").get(key) !== undefined;
  }

  /** Keys with this prefix after `after`, in order. */
  list(prefix: string, after: string, limit: number): string[] {
    const sql = "SELECT key FROM entries WHERE key > ? AND key >= ? AND key < ? ORDER BY key LIMIT ?";
    // Keys are ASCII, so DEL follows all that may come after the prefix.
    const rows = this.#prepared(sql).all(after, prefix, `${prefix}\x7f`, limit);
    return (rows as { key: string }[]).map(({ key }) => key);
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

  /** Runs steps in a transaction. */
  commit(steps: readonly Step[]): StepResult[] {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const results = steps.map(([sql, ...values]) => this.#prepared(sql).get(...values));
      this.#database.exec("COMMIT");
      return results;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** From here on, shows the database as it is now. */
  startSnapshot(): void {
    this.#database.exec("BEGIN");
    this.list("", "", 1);
  }

  close(): void {
    // libsql closes a database only with its last statement, so a snapshot would keep the log from starting again.
    this.#rollBack();
    this.#database.close();
  }

  #prepared(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #rollBack(): void {
    try {
      this.#database.exec("ROLLBACK");
    } catch {
      // There is no transaction, or SQLite has rolled it back already.
    }
  }
}

/** The engines return bytes as `Uint8Array` or as `Buffer`. */
function toBuffer(value: SqlValue | undefined): Buffer | null {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : null;
}
