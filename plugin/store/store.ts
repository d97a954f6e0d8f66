// plugin/store/store.ts: storage interface, and the rules for keys.
import { TwtxtError } from "../errors.js";

export interface StoredValue {
  bytes: Uint8Array;
  /**
   * Identifies this version; opaque, never empty. Different values have different etags. The same bytes written again may
   * have the same one: writers that compete must write different bytes.
   */
  etag: string;
}

/** A byte range: offsets from 0, both ends included. */
export interface Range {
  first: number;
  last: number;
}

export interface ListRange {
  after?: string | undefined;
  limit: number;
  /** Lists from the last key to the first. A bucket has to be listed as a whole for it. */
  isReversed?: boolean;
}

/** What a store knows about the *entries* of a folder, see {@link Store.survey}. */
export interface FolderSurvey {
  count: number;
  /** The sum of the numbers at the end of their keys. */
  sum: number;
  /** The last one in the order of their bytes; `null` for none. */
  last: string | null;
  /** Those with the requested ID, in order. */
  found: string[];
}

/** The precondition of a write; a write without one always happens. */
export type Condition = { isNew: true } | { etag: string };

/**
 * Key-value storage.
 *
 * Keys are `a/b/c`: segments of `a-z 0-9 . _ -` that start with a letter or digit, at most 200 bytes each and 500 in
 * total. Only lower case, so that keys stay distinct on a file system that ignores case. No key is the folder of another.
 *
 * Acknowledged writes are durable. Of several conditional writes to one version, exactly one succeeds. Reads are atomic.
 *
 * @throws TwtxtError `store-failed` when the storage gives no reliable answer: a write may then have happened or not.
 *   `bad-store-key` for an invalid key or prefix
 */
export interface Store {
  /** @returns `null` if the key does not exist */
  get(key: string): Promise<StoredValue | null>;
  /** Writes a value. @returns the new etag; `null` if the condition was not met and nothing was written */
  put(key: string, bytes: Uint8Array, condition?: Condition): Promise<string | null>;
  /** Deletes a key, whatever its version. A missing key is not an error. */
  delete(key: string): Promise<void>;
  /** All keys that start with `prefix`, unordered: `a/b` finds `a/b`, `a/bc` and `a/bd/e`. */
  keys(prefix: string): Promise<string[]>;
  /**
   * A page of the keys that start with `prefix`, in the order of their bytes.
   *
   * @param page - the keys that come after `after` in this order, at most `limit` of them; default: from the first
   */
  list(prefix: string, page: ListRange): Promise<string[]>;
  /**
   * Surveys the entries of a folder, for limits that each write checks. Entries are keys that end in `/<id>-<number>` or
   * `/<order>-<id>-<number>`, possibly with more after the ID, see {@link parseEntry}. Costs the same however many there are.
   *
   * A bucket has to be listed for it: there, changes by other processes may be missing for two seconds.
   *
   * @param folder - ends in `/`; keys of folders in it do not count
   * @param id - default: none
   */
  survey(folder: string, id?: string): Promise<FolderSurvey>;
}

/** A store that also takes values larger than memory. */
export interface StreamingStore extends Store {
  /**
   * Writes a value of any size under a new key: streamed values are never replaced. The write is atomic; if the chunks
   * end early, nothing is written.
   *
   * @param chunks - ownership is transferred: do not reuse a chunk after yielding it. A TwtxtError that they throw is
   *   passed on unchanged
   * @param size - total size in bytes
   */
  write(key: string, chunks: AsyncIterable<Uint8Array>, size: number): Promise<void>;
  /**
   * Reads a value as a stream, which stays readable if the key is deleted meanwhile.
   *
   * @param range - must be within the value; default: all of it
   * @returns `null` if the key does not exist
   */
  read(key: string, range?: Range): Promise<ReadableStream<Uint8Array> | null>;
  /** Runs work in which all calls of {@link Store.keys} cost one listing, for stores where each costs a request. */
  shareListing?<T>(work: () => Promise<T>): Promise<T>;
  /** Whether values can be written, for stores that notice it. @throws TwtxtError `store-failed` while they cannot */
  checkWritable?(): Promise<void>;
}

/** Maximum length of a key in bytes. */
export const MAX_KEY = 500;
const SEGMENT = "[a-z0-9][a-z0-9._-]{0,199}";
const KEY = new RegExp(`^${SEGMENT}(?:/${SEGMENT})*$`);
const PREFIX = new RegExp(`^(?:${SEGMENT}/)*(?:${SEGMENT})?$`);

/** ID: the SHA-256 of something, in hex. Order: 15 digits. */
const ENTRY = /^(.*\/)(?:\d{15}-)?([0-9a-f]{64})-(?:[^/]*-)?(\d{1,15})$/;

/** The parts of the key of an entry. */
export interface EntryParts {
  folder: string;
  id: string;
  number: number;
}

/** @returns `null` for other keys */
export function parseEntry(key: string): EntryParts | null {
  const [, folder, id, number] = ENTRY.exec(key) ?? [];
  return folder === undefined || id === undefined ? null : { folder, id, number: Number(number) };
}

/** @param etag - the current version; `null` if the key does not exist */
export function isConditionMet(condition: Condition | undefined, etag: string | null): boolean {
  if (condition === undefined) return true;
  return "isNew" in condition ? etag === null : etag === condition.etag;
}

/** A page of all keys, for stores that cannot list one themselves. */
export function pageOfKeys(keys: readonly string[], { after, limit, isReversed = false }: ListRange): string[] {
  const rest = keys.filter((key) => after === undefined || (isReversed ? key < after : key > after)).sort();
  return (isReversed ? rest.reverse() : rest).slice(0, limit);
}

/** Surveys the entries of a folder, for stores that do not count them. @param entries - by their keys */
export function surveyEntries(entries: Iterable<readonly [string, EntryParts]>, id?: string): FolderSurvey {
  const survey: FolderSurvey = { count: 0, sum: 0, last: null, found: [] };
  for (const [key, entry] of entries) {
    survey.count += 1;
    survey.sum += entry.number;
    if (survey.last === null || key > survey.last) survey.last = key;
    if (entry.id === id) survey.found.push(key);
  }
  survey.found.sort();
  return survey;
}

/** Whether a text is a valid key. A storage may also contain objects of other programs. */
export function isKey(text: string): boolean {
  return text.length <= MAX_KEY && KEY.test(text);
}

/** @throws TwtxtError `bad-store-key` */
export function checkKey(key: string): void {
  if (!isKey(key)) throw new TwtxtError("bad-store-key", `${JSON.stringify(key)} is not a valid store key.`);
}

/** @throws TwtxtError `bad-store-key` if no key can start with this prefix */
export function checkPrefix(prefix: string): void {
  if (prefix.length > MAX_KEY || !PREFIX.test(prefix)) {
    throw new TwtxtError("bad-store-key", `No store key can start with ${JSON.stringify(prefix)}.`);
  }
}
