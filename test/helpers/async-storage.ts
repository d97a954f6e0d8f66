// test/helpers/async-storage.ts: keeps Node.js from following every promise of a worker.
//
// Before Node.js 24, the first use of an `AsyncLocalStorage` makes each later promise of the process cost two to three times
// as much processor time, until the storage is disabled. Hono uses one to render a page, Playwright one for each call.
import hooks, { AsyncLocalStorage } from "node:async_hooks";

const { run } = AsyncLocalStorage.prototype;
const uses = new WeakMap<AsyncLocalStorage<unknown>, number>();

/** Disables each storage of this process as soon as no function runs with it. */
export function disableUnusedStorages(): void {
  AsyncLocalStorage.prototype.run = function <R, A extends unknown[]>(
    this: AsyncLocalStorage<unknown>,
    value: unknown,
    work: (...given: A) => R,
    ...given: A
  ): R {
    const end = () => {
      const left = (uses.get(this) ?? 1) - 1;
      uses.set(this, left);
      if (left === 0) this.disable();
    };
    uses.set(this, (uses.get(this) ?? 0) + 1);
    let result: R | undefined;
    try {
      result = run.call(this, value, work as () => unknown, ...given) as R;
      return result;
    } finally {
      if (result instanceof Promise) void result.then(end, end);
      else end();
    }
  };
}

/** Imports a module whose storages have a value only until a function awaits. */
export function importWithSynchronousStorages<T>(load: () => T): T {
  // Node.js 22 has a getter, which an assignment does not replace.
  const own = Object.getOwnPropertyDescriptor(hooks, "AsyncLocalStorage") ?? {};
  Object.defineProperty(hooks, "AsyncLocalStorage", { value: SynchronousStorage, configurable: true });
  try {
    return load();
  } finally {
    Object.defineProperty(hooks, "AsyncLocalStorage", own);
  }
}

class SynchronousStorage<T> extends AsyncLocalStorage<T> {
  #value: T | undefined;

  override getStore(): T | undefined {
    return this.#value;
  }

  override run<R, A extends unknown[]>(value: T, work: (...given: A) => R, ...given: A): R {
    const before = this.#value;
    this.#value = value;
    try {
      return work(...given);
    } finally {
      this.#value = before;
    }
  }
}
