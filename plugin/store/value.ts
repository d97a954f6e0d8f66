// plugin/store/value.ts: values of any size, for copying between stores.
import { createHash } from "node:crypto";
import { concatChunks, streamOf } from "./chunks.js";
import type { StreamingStore } from "./store.js";

/** Values up to this size in bytes are held in memory and written with `put`, larger ones are streamed. */
export const SMALL_BYTES = 4 * 2 ** 20;

export interface Value {
  /** In bytes. */
  size: number;
  /** The bytes from the start, at each call; `null` if they have been deleted. */
  open(): Promise<AsyncIterable<Uint8Array> | null>;
}

/** A value in memory. */
export function memoryValue(bytes: Uint8Array): Value {
  return { size: bytes.length, open: async () => streamOf(bytes) };
}

/**
 * Reads a value into memory if it is small; of a large one, only its size.
 *
 * @returns `null` if the key does not exist
 */
export async function readValue(store: StreamingStore, key: string): Promise<Value | null> {
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

/** Writes or replaces a value. No other process may write the same key. */
export async function writeValue(
  store: StreamingStore,
  key: string,
  { size, chunks }: { size: number; chunks: AsyncIterable<Uint8Array> },
): Promise<void> {
  if (size <= SMALL_BYTES) return void (await store.put(key, await concatChunks(chunks)));
  await store.delete(key);
  await store.write(key, chunks, size);
}

/** @returns the SHA-256 in hex; `null` if the key does not exist */
export async function hashOf(store: StreamingStore, key: string): Promise<string | null> {
  const stream = await store.read(key);
  if (!stream) return null;
  const hash = createHash("sha256");
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest("hex");
}
