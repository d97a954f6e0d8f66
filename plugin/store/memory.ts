// plugin/store/memory.ts: a store that ends with its process.
import { checkKey, checkPrefix, holds, type Store, type Stored } from "./store.js";

/** A store for tests and trying out. */
export function memoryStore(): Store {
  const values = new Map<string, Stored>();
  let writes = 0;

  return {
    async get(key) {
      checkKey(key);
      const stored = values.get(key);
      return stored ? { ...stored, bytes: stored.bytes.slice() } : null;
    },

    async put(key, bytes, condition) {
      checkKey(key);
      if (!holds(condition, values.get(key)?.etag ?? null)) return null;
      writes += 1;
      const etag = String(writes);
      values.set(key, { bytes: Uint8Array.from(bytes), etag });
      return etag;
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
