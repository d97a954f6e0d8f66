// plugin/store/memory.ts: store in memory.
import { concatChunks, toStream } from "./chunks.js";
import {
  checkKey,
  checkPrefix,
  isConditionMet,
  pageOfKeys,
  parseEntry,
  type StoredValue,
  type StreamingStore,
  surveyEntries,
} from "./store.js";

export function memoryStore(): StreamingStore {
  const values = new Map<string, StoredValue>();
  let writes = 0;

  const store: StreamingStore = {
    async get(key) {
      checkKey(key);
      const stored = values.get(key);
      return stored ? { ...stored, bytes: stored.bytes.slice() } : null;
    },

    async put(key, bytes, condition) {
      checkKey(key);
      if (!isConditionMet(condition, values.get(key)?.etag ?? null)) return null;
      writes += 1;
      const etag = String(writes);
      values.set(key, { bytes: Uint8Array.from(bytes), etag });
      return etag;
    },

    async write(key, chunks) {
      checkKey(key);
      await store.put(key, await concatChunks(chunks));
    },

    async read(key, range) {
      const stored = await store.get(key);
      return stored && toStream(stored.bytes, range);
    },

    async delete(key) {
      checkKey(key);
      values.delete(key);
    },

    async keys(prefix) {
      checkPrefix(prefix);
      return [...values.keys()].filter((key) => key.startsWith(prefix));
    },

    list: async (prefix, range) => pageOfKeys(await store.keys(prefix), range),

    async survey(folder, id) {
      const entries = (await store.keys(folder)).map((key) => [key, parseEntry(key)] as const);
      return surveyEntries(
        entries.flatMap(([key, entry]) => (entry?.folder === folder ? [[key, entry]] : [])),
        id,
      );
    },
  };
  return store;
}
