// plugin/store/consistent-copy.ts: reads a whole store while others write it, so that the values read fit together.
import { TwtxtError } from "../errors.js";
import type { StreamingStore } from "./store.js";
import { memoryValue, readValue, type Value } from "./value.js";

/** Retries after a head has changed while it was read. */
const TRIES = 20;
/** Listings of what has come since the last one. */
const ROUNDS = 3;

/** Values that name other values. */
export interface Heads {
  /** A key, or what the keys start with: `mentions/snapshot`, `blobs/records/`. */
  at: string;
  /** What the keys start with of values that count together with the head; `null` for none. */
  beside: string | null;
  /** The keys that a head names; none for what cannot be read. */
  namedIn(bytes: Uint8Array): string[];
}

/** Takes the values. */
export interface CopyTarget {
  has(key: string): boolean;
  /** Takes a value, in the place of one that it has under the same key. @returns `false` where the value is gone */
  add(key: string, value: Value): Promise<boolean>;
  /** Gives up all values whose keys start so. */
  drop(prefix: string): void;
}

/**
 * Copies every value that is stored when this begins and is not deleted meanwhile.
 *
 * - A value that moves from one key to another is written there before it goes here. So keys are listed again at the end,
 *   and heads are read last.
 * - A head is copied with all values that it names, or is read again where one of them is gone or the head has changed.
 *
 * @param onCount - told how many of how many keys are done
 * @throws TwtxtError `store-failed`, and what the target throws
 */
export async function copyConsistently(
  store: StreamingStore,
  heads: readonly Heads[],
  target: CopyTarget,
  onCount: (done: number, all: number) => void,
): Promise<void> {
  const isOfHeads = (key: string) =>
    heads.some(({ at, beside }) => key.startsWith(at) || (beside !== null && key.startsWith(beside)));

  const copyNew = async (): Promise<boolean> => {
    const all = await store.keys("");
    const fresh = all.filter((key) => !isOfHeads(key) && !target.has(key)).sort();
    for (const [at, key] of fresh.entries()) {
      await copyValue(store, key, target);
      onCount(all.length - fresh.length + at + 1, all.length);
    }
    return fresh.length > 0;
  };

  for (let round = 0; round < ROUNDS && (await copyNew()); round += 1);
  for (const { at, beside, namedIn } of heads) {
    const keys = at.endsWith("/") ? (await store.keys(at)).sort() : [at];
    for (const key of keys) await copyHead(store, { key, beside, namedIn }, target);
  }
}

interface Head extends Omit<Heads, "at"> {
  key: string;
}

async function copyHead(store: StreamingStore, { key, beside, namedIn }: Head, target: CopyTarget): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = await store.get(key);
    if (beside !== null) target.drop(beside);
    const values = beside === null ? [] : (await store.keys(beside)).sort();
    for (const one of values) await copyValue(store, one, target);
    const isWhole = await copyAll(store, before ? namedIn(before.bytes) : [], target);
    const after = await store.get(key);
    if (!isWhole || after?.etag !== before?.etag) continue;
    if (before) await target.add(key, memoryValue(before.bytes));
    return;
  }
  throw new TwtxtError("store-failed", `${key} was changed by other processes ${TRIES} times while it was read.`);
}

/** @returns `false` where one of them is gone */
async function copyAll(store: StreamingStore, keys: readonly string[], target: CopyTarget): Promise<boolean> {
  for (const key of keys) if (!target.has(key) && !(await copyValue(store, key, target))) return false;
  return true;
}

async function copyValue(store: StreamingStore, key: string, target: CopyTarget): Promise<boolean> {
  const value = await readValue(store, key);
  return value !== null && target.add(key, value);
}
