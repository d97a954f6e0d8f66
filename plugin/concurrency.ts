// plugin/concurrency.ts: combines concurrent calls, and limits them.

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

/** @returns a function that runs each work after all earlier ones have ended */
export function serialize(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const run = last.then(work);
    last = run.catch(() => {});
    return run;
  };
}

/** Caches results by key, failures excluded. Concurrent calls share one request. */
export function memoize<T>(ask: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const answers = new Map<string, Promise<T>>();
  return (key) => {
    const known = answers.get(key);
    if (known) return known;
    const answer = ask(key);
    answers.set(key, answer);
    answer.catch(() => answers.delete(key));
    return answer;
  };
}

/**
 * Calls `work` for each item, a limited number at a time. Without a queue of its own, so that the function that lists
 * mentions loads none.
 *
 * @returns the results in the order of the items
 * @throws the first error, once no work is in progress
 */
export async function mapInParallel<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const left = items.entries();
  const run = async () => {
    for (const [at, item] of left) results[at] = await work(item);
  };
  const runs = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, run));
  for (const each of runs) if (each.status === "rejected") throw each.reason;
  return results;
}
