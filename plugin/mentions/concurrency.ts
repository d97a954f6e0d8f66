// plugin/mentions/concurrency.ts: combines and limits concurrent calls.
import PQueue from "p-queue";

/**
 * Runs `work` once at a time. Calls during a run share the next one, so that each result reflects the state at its call
 * or later.
 */
export function coalesce<T>(work: () => Promise<T>): () => Promise<T> {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  const start = () => {
    next = null;
    const run = work();
    current = run.catch(() => {});
    return run;
  };
  return () => {
    next ??= current.then(start);
    return next;
  };
}

/** Calls `work` for each item, a limited number at a time. @returns the results in the order of the items */
export function mapInParallel<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): Promise<R[]> {
  return new PQueue({ concurrency: limit }).addAll(items.map((item) => () => work(item)));
}
