// plugin/mentions/coalesce.ts: combines concurrent calls of an asynchronous function.

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
