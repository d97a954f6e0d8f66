// plugin/mentions/coalesced.ts: combines concurrent calls of an asynchronous function.

/**
 * Runs `work` at most once at a time. Calls that arrive during a run share the next run, which starts when the current one
 * has ended, so that each call sees what was there when it was made.
 */
export function coalesced<T>(work: () => Promise<T>): () => Promise<T> {
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
