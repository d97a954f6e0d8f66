// plugin/store/store.ts: where things are kept: the port that each kind of storage implements.
import { TwtxtError } from "../errors.js";

/** A stored value and the version it has. */
export interface Stored {
  bytes: Uint8Array;
  /**
   * Names this version of the value; opaque, never empty. Another value never has it. The same bytes, written again, may:
   * where one of two writers must lose, they write different bytes.
   */
  etag: string;
}

/** The first and the last byte of a part, both of them in it; the first of all is 0. */
export interface Range {
  first: number;
  last: number;
}

/** What must hold for a write to happen; without one it always happens. */
export type Condition = { isNew: true } | { etag: string };

/**
 * Keys are `a/b/c`: segments of `a-z 0-9 . _ -` that start with a letter or digit, at most 200 bytes each and 500 in
 * all, never in two cases, so that a file system that ignores case keeps them apart. A key is not also the start of
 * another one's path.
 *
 * A write that has been answered survives the end of the process, and of the machine. Of two conditional writes of the same version of one
 * key, one alone happens. Whoever reads sees all of a value or nothing of it.
 *
 * @throws TwtxtError `store-failed` where the storage gives no answer that can be relied on: a write may then have
 *   happened or not. `bad-store-key` for what is no key, or not the start of one
 */
export interface Store {
  /** @returns `null` where there is no such key */
  get(key: string): Promise<Stored | null>;
  /**
   * Writes a value.
   *
   * @returns the new version's etag; `null` where the condition did not hold, and nothing was written
   */
  put(key: string, bytes: Uint8Array, condition?: Condition): Promise<string | null>;
  /** Removes a key, whatever its version; one that is not there is no error. */
  delete(key: string): Promise<void>;
  /** All keys that start with `prefix`, in no order: `a/b` finds `a/b`, `a/bc` and `a/bd/e`. */
  keys(prefix: string): Promise<string[]>;
}

/** A store for values that may be larger than the memory, too. */
export interface StreamingStore extends Store {
  /**
   * Writes a value that may be larger than the memory, under a key that nobody has used and nobody else uses: such values
   * are not replaced. It is there as a whole once this is fulfilled, and not at all where the chunks break off.
   *
   * @param chunks - are taken over: whoever has given one does not look at it again. Where they throw a TwtxtError, it is
   *   thrown as it is
   * @param size - of all of them, in bytes
   */
  write(key: string, chunks: AsyncIterable<Uint8Array>, size: number): Promise<void>;
  /**
   * Reads a value as it comes, which goes on where the key is removed meanwhile.
   *
   * @param range - the part that is wanted, within the value; all of it where there is none
   * @returns `null` where there is no such key
   */
  read(key: string, range?: Range): Promise<ReadableStream<Uint8Array> | null>;
}

/** Bytes of a key. */
export const MAX_KEY = 500;
const SEGMENT = "[a-z0-9][a-z0-9._-]{0,199}";
const KEY = new RegExp(`^${SEGMENT}(?:/${SEGMENT})*$`);
const PREFIX = new RegExp(`^(?:${SEGMENT}/)*(?:${SEGMENT})?$`);

/** @param etag - of the version that is there; `null` where there is none */
export function holds(condition: Condition | undefined, etag: string | null): boolean {
  if (condition === undefined) return true;
  return "isNew" in condition ? etag === null : etag === condition.etag;
}

/** Whether a text is a key. What else lies in a storage is not ours. */
export function isKey(text: string): boolean {
  return text.length <= MAX_KEY && KEY.test(text);
}

/** @throws TwtxtError `bad-store-key` */
export function checkKey(key: string): void {
  if (!isKey(key)) throw new TwtxtError("bad-store-key", `${JSON.stringify(key)} is no key of a store.`);
}

/** @throws TwtxtError `bad-store-key` for what no key starts with */
export function checkPrefix(prefix: string): void {
  if (prefix.length > MAX_KEY || !PREFIX.test(prefix)) {
    throw new TwtxtError("bad-store-key", `No key of a store starts with ${JSON.stringify(prefix)}.`);
  }
}
