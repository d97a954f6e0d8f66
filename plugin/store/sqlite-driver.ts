// plugin/store/sqlite-driver.ts: opens SQLite databases with `node:sqlite`, or with the package libsql where Node.js has none.
import { createRequire } from "node:module";
import { TwtxtError } from "../errors.js";

const require = createRequire(import.meta.url);

/** Primary result codes, see sqlite.org/rescode.html */
export const BUSY = 5;
const FULL = 13;
const READ_ONLY = 8;
const CORRUPT = 11;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;
/** `SQLITE_IOERR_SHMSIZE`: there is no space for the file that processes share. */
const SHARED_MEMORY_FULL = 10 | (19 << 8);

export type SqlValue = string | number | Uint8Array | null;

export type SqlRow = Record<string, SqlValue>;

export interface Statement {
  get(...values: SqlValue[]): SqlRow | undefined;
  /** All rows. libsql returns each value of bytes as an `ArrayBuffer`. */
  all(...values: SqlValue[]): SqlRow[];
}

/** What both engines have. All calls are synchronous. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

interface NodeSqlite {
  DatabaseSync: new (file: string, options: { readOnly: boolean }) => Database;
}

type Libsql = new (file: string, options: { readonly: boolean }) => Database;

/**
 * Opens a database.
 *
 * @param file - a path, or a `file:` URI
 * @throws TwtxtError `store-failed` if there is no engine
 */
export function openDatabase(file: string, { isReadOnly = false } = {}): Database {
  const engine = loadNodeSqlite();
  if (engine) return new engine.DatabaseSync(file, { readOnly: isReadOnly });
  libsql ??= loadLibsql();
  return new libsql(file, { readonly: isReadOnly });
}

/** Loaded once, because `npm ci` or a new deploy may remove its files while a server runs. */
let libsql: Libsql | undefined;

/** Its loader asks for Node's report of the process, for which Node.js looks up the name of each connected host, and blocks. */
function loadLibsql(): Libsql {
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  try {
    return require(libsqlPath()) as Libsql;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

/**
 * The file of the package libsql.
 *
 * @returns `null` if Node.js has SQLite itself
 * @throws TwtxtError `store-failed` if neither is there
 */
export function libsqlFile(): string | null {
  return loadNodeSqlite() ? null : libsqlPath();
}

function libsqlPath(): string {
  try {
    return require.resolve("libsql");
  } catch (cause) {
    const what = `Node.js ${process.versions.node} has no SQLite, in which data is stored. Type: npm install libsql@0.5 (or use Node.js 22.13 or later)`;
    throw new TwtxtError("store-failed", what, { cause });
  }
}

/** Hides the warning that this module is experimental, and no other. */
function loadNodeSqlite(): NodeSqlite | undefined {
  const emitWarning = process.emitWarning as (...parts: unknown[]) => void;
  process.emitWarning = (...parts: unknown[]) => {
    if (!String(parts[0]).startsWith("SQLite is an experimental feature")) emitWarning.call(process, ...parts);
  };
  try {
    return process.getBuiltinModule?.("node:sqlite") as NodeSqlite | undefined;
  } finally {
    process.emitWarning = emitWarning as typeof process.emitWarning;
  }
}

/** The primary result code of an error of either engine; `null` for other errors. */
export function resultCode(error: unknown): number | null {
  const code = extendedCode(error);
  return code === null ? null : code & 0xff;
}

function extendedCode(error: unknown): number | null {
  const { errcode, rawCode, message } = Object(error) as { errcode?: number; rawCode?: number; message?: unknown };
  const code = errcode ?? rawCode;
  if (typeof code === "number") return code;
  // libsql reports failures to open a file only as text.
  const opening = /^ConnectionFailed\(.*: (\d+)"?\)$/s.exec(String(message));
  return opening ? Number(opening[1]) : null;
}

/** Node's code of an error, also for SQLite's own of a full disk or a read-only file system; or empty. */
export function systemCode(error: unknown): string {
  const code = resultCode(error);
  if (code === FULL || extendedCode(error) === SHARED_MEMORY_FULL) return "ENOSPC";
  if (code === READ_ONLY) return "EROFS";
  return String(Object(error).code ?? "");
}

/** Whether a database, or the files that SQLite needs beside it, cannot be opened or created for writing. */
export function isNotWritable(error: unknown): boolean {
  const code = resultCode(error);
  const isRefused = ["EROFS", "EACCES"].includes(String(Object(error).code));
  return isRefused || code === READ_ONLY || code === CANNOT_OPEN || extendedCode(error) === SHARED_MEMORY_FULL;
}

export function isDamaged(error: unknown): boolean {
  const code = resultCode(error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}
