// test/helpers/faulty-store.ts: a store whose calls a test can make fail.
import { TwtxtError } from "../../plugin/errors.js";
import type { StreamingStore } from "../../plugin/store/store.js";

/** The calls that fail. */
export interface Fault {
  /** `before`: the call has no effect. `after`: the call takes effect, but its result is lost. */
  when: "before" | "after";
  /** Default: all operations. */
  operation?: keyof StreamingStore;
  /** Only calls whose key or prefix starts with this. */
  key?: string;
  /** The number of calls that fail; default: all, until {@link FaultyStore.repair}. */
  times?: number;
}

export interface FaultyStore extends StreamingStore {
  fail(fault: Fault): void;
  repair(): void;
}

/** Passes calls on to the inner store, except those that {@link FaultyStore.fail} makes fail with `store-failed`. */
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
    survey: (folder, id) => through("survey", folder, () => inner.survey(folder, id)),
    list: (prefix, range) => through("list", prefix, () => inner.list(prefix, range)),
  };
}
