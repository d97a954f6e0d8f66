// plugin/store/copy.ts: copying of values between stores, also while other processes write them.
import { hashChunks, toStream } from "./chunks.js";
import { LostRace, winRace } from "./retry.js";
import type { StreamingStore } from "./store.js";

/** Values up to this size in bytes are held in memory, larger ones are streamed. */
export const SMALL_BYTES = 4 * 2 ** 20;

/** Retries when a head changes while it is read. */
const TRIES = 20;
/** Listings of keys, each finds those written since the one before. */
const ROUNDS = 3;

/** A value of any size. */
export interface Value {
  /** In bytes. */
  size: number;
  /** The bytes from the start, at each call; `null` if they have been deleted. */
  open(): Promise<AsyncIterable<Uint8Array> | null>;
}

function memoryValue(bytes: Uint8Array): Value {
  return { size: bytes.length, open: async () => toStream(bytes) };
}

/**
 * Reads a value into memory if it is small; of a large one, only its size.
 *
 * @returns `null` if the key does not exist
 */
async function readValue(store: CopySource, key: string): Promise<Value | null> {
  const stream = await store.read(key);
  if (!stream) return null;
  let start: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size <= SMALL_BYTES) start.push(chunk);
    else start = [];
  }
  if (size <= SMALL_BYTES) return memoryValue(Buffer.concat(start));
  return { size, open: () => store.read(key) };
}

/** @returns the SHA-256 in hex; `null` if the key does not exist */
export async function hashValue(store: StreamingStore, key: string): Promise<string | null> {
  const stream = await store.read(key);
  return stream && hashChunks(stream);
}

/** A store, or a snapshot of one. */
export type CopySource = Pick<StreamingStore, "get" | "read" | "keys">;

/** Values that refer to other values by key. */
export interface HeadKeys {
  /** One key, or a prefix of several: `mentions/snapshot`, `blobs/records/`. */
  prefix: string;
  /** The prefix of values that belong to the same state as the head; `null` for none. */
  relatedPrefix: string | null;
  /** The keys that a head refers to; none if it cannot be read. */
  referencedKeys(bytes: Uint8Array): string[];
}

/** Receives the values. */
export interface CopyTarget {
  has(key: string): boolean;
  /** Adds or replaces a value. @returns `false` if the value no longer exists */
  add(key: string, value: Value): Promise<boolean>;
  /** Removes all values with this prefix. */
  drop(prefix: string): void;
}

/**
 * Copies every value that exists at the start and is not deleted during the copy.
 *
 * - A process that moves a value writes the new key before it deletes the old one. So keys are listed again at the end,
 *   and heads are read last.
 * - A head is copied with all values that it refers to. It is read again if one of them is gone or the head has changed.
 *
 * @param onCount - called with the number of copied keys and of all keys
 * @throws TwtxtError `store-failed`, and what the target throws
 */
export async function copyConsistently(
  store: CopySource,
  heads: readonly HeadKeys[],
  target: CopyTarget,
  onCount: (done: number, all: number) => void,
): Promise<void> {
  const belongsToHead = (key: string) =>
    heads.some(
      ({ prefix, relatedPrefix }) =>
        key.startsWith(prefix) || (relatedPrefix !== null && key.startsWith(relatedPrefix)),
    );

  const copyNew = async (): Promise<boolean> => {
    const all = await store.keys("");
    const fresh = all.filter((key) => !belongsToHead(key) && !target.has(key)).sort();
    for (const [at, key] of fresh.entries()) {
      await copyValue(store, key, target);
      onCount(all.length - fresh.length + at + 1, all.length);
    }
    return fresh.length > 0;
  };

  for (let round = 0; round < ROUNDS && (await copyNew()); round += 1);
  for (const head of heads) {
    const keys = head.prefix.endsWith("/") ? (await store.keys(head.prefix)).sort() : [head.prefix];
    for (const key of keys) await copyHead(store, key, head, target);
  }
}

async function copyHead(
  store: CopySource,
  key: string,
  { relatedPrefix, referencedKeys }: HeadKeys,
  target: CopyTarget,
) {
  await winRace(TRIES, async () => {
    const before = await store.get(key);
    if (relatedPrefix !== null) target.drop(relatedPrefix);
    const values = relatedPrefix === null ? [] : (await store.keys(relatedPrefix)).sort();
    for (const one of values) await copyValue(store, one, target);
    let isWhole = true;
    for (const one of before ? referencedKeys(before.bytes) : []) {
      isWhole &&= target.has(one) || (await copyValue(store, one, target));
    }
    const after = await store.get(key);
    if (!isWhole || after?.etag !== before?.etag) {
      const what = `${key} was changed by other processes during each of ${TRIES} reads.`;
      throw new LostRace(`${what} Try again when there are fewer writes.`);
    }
    if (before) await target.add(key, memoryValue(before.bytes));
  });
}

/** @returns `false` if the key no longer exists */
async function copyValue(store: CopySource, key: string, target: CopyTarget): Promise<boolean> {
  const value = await readValue(store, key);
  return value !== null && target.add(key, value);
}
