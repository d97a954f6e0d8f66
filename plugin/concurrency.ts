// plugin/concurrency.ts: combines concurrent calls, and limits and queues them.
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

/** Calls `work` for each item, a limited number at a time. @returns the results in the order of the items */
export function mapInParallel<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): Promise<R[]> {
  return new PQueue({ concurrency: limit }).addAll(items.map((item) => () => work(item)));
}

/**
 * Runs a task when a slot is free.
 *
 * @param priority - waiting tasks with a higher priority go first; default 0
 */
type HostQueue = <T>(host: string, task: () => Promise<T>, priority?: number) => Promise<T>;

/**
 * Creates a queue that runs one task of each host at a time. Tasks wait in their host's own queue, so a slow host does not
 * delay others.
 *
 * @param total - concurrent tasks
 */
export function hostQueue(total = 32): HostQueue {
  const shared = new PQueue({ concurrency: total });
  const hosts = new Map<string, PQueue>();
  return (host, task, priority = 0) => {
    const own = hosts.get(host) ?? new PQueue({ concurrency: 1 });
    hosts.set(host, own);
    return own.add(() => shared.add(task, { priority }), { priority });
  };
}
