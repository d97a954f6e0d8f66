// plugin/store/value-files.ts: files beside a database, with the values that are too large for its rows.
//
// A file is written and synced under a unique name before the row that names it is committed, and is never changed. It is
// removed after the row. A killed process leaves a file without a row; the sweep removes it once no row can come.
import { readdirSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { checkSize } from "./chunks.js";
import { errorCode, ifExists, makeFolder, remove, streamFile, syncFolder, writeNew } from "./disk.js";
import { DamagedValue } from "./json.js";
import { MARKS, markInUse, processOfName, uniqueName } from "./processes.js";
import type { Range } from "./store.js";

const FOLDER = "files";
/** Marks of the processes that read a snapshot: no file is removed meanwhile. No key starts with a dot. */
const SNAPSHOTS = ".snapshots";
/** When the process of a file or mark counts as ended, if that cannot be checked: it runs in another container. */
const UNKNOWN_MS = 24 * 3600_000;

export class ValueFiles {
  readonly #folder: string;
  readonly #snapshots: string;
  /** When a name was first found, by the monotonic clock: the other one may jump. */
  readonly #found = new Map<string, number>();

  /** @param root - the folder of the database */
  constructor(root: string) {
    this.#folder = join(root, FOLDER);
    this.#snapshots = join(root, SNAPSHOTS, MARKS);
  }

  /**
   * Writes a durable file.
   *
   * @param bytes - ownership of a stream's chunks is transferred
   * @returns its name
   */
  async write(bytes: Uint8Array | AsyncIterable<Uint8Array>, size: number): Promise<string> {
    const name = uniqueName();
    const firstNew = await makeFolder(this.#folder);
    await writeNew(this.#path(name), bytes instanceof Uint8Array ? bytes : checkSize(bytes, size));
    await syncFolder(this.#folder, firstNew);
    return name;
  }

  /** @returns `null` if the file does not exist */
  async read(name: string, size: number): Promise<Buffer | null> {
    const handle = await ifExists(open(this.#path(name)));
    if (!handle) return null;
    try {
      const bytes = await handle.readFile();
      if (bytes.length === size) return bytes;
      throw new DamagedValue(`The file ${FOLDER}/${name} is damaged: it has the wrong size.`);
    } finally {
      await handle.close();
    }
  }

  /** @returns `null` if the file does not exist */
  async stream(name: string, size: number, range?: Range): Promise<ReadableStream<Uint8Array> | null> {
    const handle = await ifExists(open(this.#path(name)));
    return handle && streamFile(handle, range ?? { first: 0, last: size - 1 });
  }

  /** @returns `null` if the file does not exist */
  async size(name: string): Promise<number | null> {
    return (await ifExists(stat(this.#path(name))))?.size ?? null;
  }

  /** Removes files that no row names any more, unless a process reads a snapshot that may have them. */
  async remove(names: readonly string[]): Promise<void> {
    if (names.length === 0 || readNames(this.#snapshots).some((name) => !this.#isAbandoned(name))) return;
    await Promise.all(names.map((name) => remove(this.#path(name))));
  }

  /** Names of files for which no row can come. Look for their rows afterwards. */
  findAbandoned(): string[] {
    return readNames(this.#folder).filter((name) => this.#isAbandoned(name));
  }

  /** Keeps all files until the snapshot is released. @returns releases it */
  async keepForSnapshot(): Promise<() => Promise<void>> {
    try {
      return await markInUse(dirname(this.#snapshots));
    } catch (error) {
      // No other process can remove files either.
      if (errorCode(error) === "EROFS") return async () => {};
      throw error;
    }
  }

  /** Whether the process of a file or mark has ended. One that cannot be checked has, a day after it was found. */
  #isAbandoned(name: string): boolean {
    const process = processOfName(name);
    if (process !== null) return process === "ended";
    const found = this.#found.get(name) ?? performance.now();
    this.#found.set(name, found);
    return performance.now() - found > UNKNOWN_MS;
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
