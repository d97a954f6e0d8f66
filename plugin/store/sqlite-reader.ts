// plugin/store/sqlite-reader.ts: reads the values of a database and the files beside it.
import { TwtxtError } from "../errors.js";
import { toStream } from "./chunks.js";
import { describeFullDisk } from "./disk.js";
import { DamagedValue } from "./json.js";
import { isDamaged, systemCode } from "./sqlite-driver.js";
import type { Entry, Rows } from "./sqlite-rows.js";
import {
  checkKey,
  checkPrefix,
  type FolderSurvey,
  type ListRange,
  type Range,
  type StoredValue,
  surveyEntries,
} from "./store.js";
import type { ValueFiles } from "./value-files.js";

const PAGE = 1000;

export interface ReaderOptions {
  root: string;
  files: ValueFiles;
  /** @returns `null` if there is no database */
  query<T>(work: (rows: Rows) => T): Promise<T | null>;
}

export class SqliteReader {
  constructor(protected readonly options: ReaderOptions) {}

  async get(key: string): Promise<StoredValue | null> {
    checkKey(key);
    const { files } = this.options;
    return this.#find(key, async ({ etag, size, value, file }) => {
      const bytes = file === null ? value : await files.read(file, size);
      return bytes && { bytes, etag };
    });
  }

  async read(key: string, range?: Range): Promise<ReadableStream<Uint8Array> | null> {
    checkKey(key);
    const { files } = this.options;
    return this.#find(key, async ({ size, value, file }) =>
      file === null ? toStream(value ?? new Uint8Array(), range) : files.stream(file, size, range),
    );
  }

  async keys(prefix: string): Promise<string[]> {
    const found: string[] = [];
    for (;;) {
      const page = await this.list(prefix, { after: found.at(-1), limit: PAGE });
      found.push(...page);
      if (page.length < PAGE) return found;
    }
  }

  async list(prefix: string, range: ListRange): Promise<string[]> {
    checkPrefix(prefix);
    const { root, query } = this.options;
    return withStoreErrors(root, async () => (await query((rows) => rows.list(prefix, range))) ?? []);
  }

  async survey(folder: string, id = ""): Promise<FolderSurvey> {
    checkPrefix(folder);
    const { root, query } = this.options;
    return withStoreErrors(root, async () => (await query((rows) => rows.survey(folder, id))) ?? surveyEntries([], id));
  }

  /** @param open - returns `null` if the file of the value is gone: another process has replaced it since */
  #find<T>(key: string, open: (entry: Entry) => Promise<T | null>): Promise<T | null> {
    const { root, query } = this.options;
    return withStoreErrors(root, async () => {
      for (let last: Entry | undefined; ; ) {
        const row = (await query((rows) => rows.find(key))) ?? undefined;
        if (!row) return null;
        if (row.etag === last?.etag) {
          const what = `The file ${root}/files/${row.file} with the value of ${key} is missing`;
          throw new DamagedValue(`${what}: restore a backup.`);
        }
        const found = await open(row);
        if (found !== null) return found;
        last = row;
      }
    });
  }
}

/** Turns errors of SQLite and of the file system into `store-failed`. */
export async function withStoreErrors<T>(root: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (cause) {
    if (cause instanceof TwtxtError) throw cause;
    throw new TwtxtError("store-failed", `The store in ${root} failed: ${describeFailure(root, cause)}.`, { cause });
  }
}

function describeFailure(root: string, error: unknown): string {
  const { message } = error as Error;
  if (isDamaged(error)) return `its database is damaged, so restore a backup (${message})`;
  return systemCode(error) === "ENOSPC" ? describeFullDisk(root) : message;
}
