// test/helpers/recording-store.ts: a store that records what is read from it.
import type { Store } from "../../plugin/store/store.js";

/** @returns the store, and its requests, such as `get mentions/snapshot` */
export function recordingStore(store: Store): { store: Store; operations: string[] } {
  const operations: string[] = [];
  return {
    operations,
    store: {
      ...store,
      async get(key) {
        operations.push(`get ${key}`);
        return store.get(key);
      },
      async keys(prefix) {
        operations.push(`keys ${prefix}`);
        return store.keys(prefix);
      },
    },
  };
}
