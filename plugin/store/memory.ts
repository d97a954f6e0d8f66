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

  const set = (key: string, bytes: Uint8Array) => {
    writes += 1;
    const etag = String(writes);
    values.set(key, { bytes: Uint8Array.from(bytes), etag });
    return etag;
  };

  const keys = async (prefix: string) => {
    checkPrefix(prefix);
    return [...values.keys()].filter((key) => key.startsWith(prefix));
  };

  return {
    async get(key) {
      checkKey(key);
      const stored = values.get(key);
      return stored ? { ...stored, bytes: stored.bytes.slice() } : null;
    },

    async put(key, bytes, condition) {
      checkKey(key);
      if (!isConditionMet(condition, values.get(key)?.etag ?? null)) return null;
      return set(key, bytes);
    },

    async write(key, chunks) {
      checkKey(key);
      set(key, await concatChunks(chunks));
    },

    async read(key, range) {
      checkKey(key);
      const stored = values.get(key);
      return stored ? toStream(stored.bytes.slice(), range) : null;
    },

    async delete(key) {
      checkKey(key);
      values.delete(key);
    },

    keys,

    list: async (prefix, range) => pageOfKeys(await keys(prefix), range),

    async survey(folder, id) {
      checkPrefix(folder);
      const entries = [...values.keys()].map((key) => [key, parseEntry(key)] as const);
      return surveyEntries(
        entries.flatMap(([key, entry]) => (entry?.folder === folder ? [[key, entry]] : [])),
        id,
      );
    },
  };
}
