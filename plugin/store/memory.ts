// plugin/store/memory.ts: a store that ends with its process.
import { joined, streamOf } from "./chunks.js";
import { checkKey, checkPrefix, holds, type Stored, type StreamingStore } from "./store.js";

/** A store for tests and trying out. */
export function memoryStore(): StreamingStore {
  const values = new Map<string, Stored>();
  let writes = 0;

  const keep = (key: string, bytes: Uint8Array) => {
    writes += 1;
    const etag = String(writes);
    values.set(key, { bytes: Uint8Array.from(bytes), etag });
    return etag;
  };

  return {
    async get(key) {
      checkKey(key);
      const stored = values.get(key);
      return stored ? { ...stored, bytes: stored.bytes.slice() } : null;
    },

    async put(key, bytes, condition) {
      checkKey(key);
      if (!holds(condition, values.get(key)?.etag ?? null)) return null;
      return keep(key, bytes);
    },

    async write(key, chunks) {
      checkKey(key);
      keep(key, await joined(chunks));
    },

    async read(key, range) {
      checkKey(key);
      const stored = values.get(key);
      return stored ? streamOf(stored.bytes.slice(), range) : null;
    },

    async delete(key) {
      checkKey(key);
      values.delete(key);
    },

    async keys(prefix) {
      checkPrefix(prefix);
      return [...values.keys()].filter((key) => key.startsWith(prefix));
    },
  };
}
