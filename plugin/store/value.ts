// plugin/store/value.ts: values of any size, on their way from one store to another.
import { createHash } from "node:crypto";
import { joined, streamOf } from "./chunks.js";
import type { StreamingStore } from "./store.js";

/** Values up to this size are held in memory, and may be replaced later. Larger ones were streamed in, see `StreamingStore.write`. */
export const SMALL_BYTES = 4 * 2 ** 20;

export interface Value {
  /** In bytes. */
  size: number;
  /** The bytes, again at each call; `null` where they have been deleted since. */
  open(): Promise<AsyncIterable<Uint8Array> | null>;
}

/** A value in memory. */
export function memoryValue(bytes: Uint8Array): Value {
  return { size: bytes.length, open: async () => streamOf(bytes) };
}

/**
 * Reads a value, or the size of one that is too large for the memory.
 *
 * @returns `null` where there is no such key
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

/** Writes a value under a key that no other process writes. What was there before is replaced. */
export async function writeValue(
  store: StreamingStore,
  key: string,
  { size, chunks }: { size: number; chunks: AsyncIterable<Uint8Array> },
): Promise<void> {
  if (size <= SMALL_BYTES) return void (await store.put(key, await joined(chunks)));
  await store.delete(key);
  await store.write(key, chunks, size);
}

/** @returns the SHA-256 in hex; `null` where there is no such key */
export async function hashOf(store: StreamingStore, key: string): Promise<string | null> {
  const stream = await store.read(key);
  if (!stream) return null;
  const hash = createHash("sha256");
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest("hex");
}
