// test/helpers/faulty-store.ts: a store that fails when a test says so.
import { TwtxtError } from "../../plugin/errors.js";
import type { StreamingStore } from "../../plugin/store/store.js";

/** Which calls fail. */
export interface Fault {
  /** Before anything has happened, or after all of it, so that only the answer is lost. */
  when: "before" | "after";
  /** Default all of them. */
  operation?: keyof StreamingStore;
  /** Only for keys, and prefixes, that start so. */
  key?: string;
  /** How many calls fail; default all, until it is repaired. */
  times?: number;
}

export interface FaultyStore extends StreamingStore {
  fail(fault: Fault): void;
  repair(): void;
}

/** A store that does what the inner one does, until it is told to fail with `store-failed`. */
export function faultyStore(inner: StreamingStore): FaultyStore {
  let faults: (Fault & { left: number })[] = [];

  const through = async <T>(operation: keyof StreamingStore, key: string, work: () => Promise<T>): Promise<T> => {
    const fault = faults.find(
      (one) => one.left > 0 && (one.operation ?? operation) === operation && key.startsWith(one.key ?? ""),
    );
    if (fault) fault.left -= 1;
    const failed = new TwtxtError("store-failed", `The store was down ${fault?.when} ${operation} of ${key}.`);
    if (fault?.when === "before") throw failed;
    const answer = await work();
    if (fault) throw failed;
    return answer;
  };

  return {
    fail: (fault) => {
      faults.push({ ...fault, left: fault.times ?? Number.POSITIVE_INFINITY });
    },
    repair: () => {
      faults = [];
    },
    get: (key) => through("get", key, () => inner.get(key)),
    put: (key, bytes, condition) => through("put", key, () => inner.put(key, bytes, condition)),
    write: (key, chunks, size) => through("write", key, () => inner.write(key, chunks, size)),
    read: (key, range) => through("read", key, () => inner.read(key, range)),
    delete: (key) => through("delete", key, () => inner.delete(key)),
    keys: (prefix) => through("keys", prefix, () => inner.keys(prefix)),
  };
}
