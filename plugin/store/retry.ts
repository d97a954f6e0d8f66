// plugin/store/retry.ts: work that is tried again, after a failure or after a lost race with another process.
import { setTimeout } from "node:timers/promises";
import { TwtxtError } from "../errors.js";

/** Waits. Resolves early when the signal is aborted. */
export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

export const sleep: Sleep = async (milliseconds, signal) => {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
};

interface RetryOptions {
  /** Pauses before the second and later tries, in milliseconds. Read from the first failure on. */
  pauses: Iterable<number>;
  /** Whether another try may succeed; default: always. */
  mayRepeat?(error: unknown): boolean;
  /** Ends the pauses and the tries, but not a try that has begun. */
  signal?: AbortSignal;
  sleep?: Sleep;
}

/** Tries work again after a failure. @throws the error of the last try */
export async function retry<T>(work: () => T | Promise<T>, options: RetryOptions): Promise<T> {
  let pauses: Iterator<number> | null = null;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      pauses ??= options.pauses[Symbol.iterator]();
      const { value: pause, done } = pauses.next();
      if (options.mayRepeat?.(error) === false || done) throw error;
      await (options.sleep ?? sleep)(pause, options.signal);
      if (options.signal?.aborted) throw error;
    }
  }
}

/**
 * Tries again after a lost race with another process, without a pause: that process has made progress.
 *
 * @param attempt - returns `undefined` if the race was lost
 * @param failure - the message after this many lost races
 * @throws TwtxtError `store-failed` after too many lost races
 */
export async function winRace<T>(tries: number, attempt: () => Promise<T | undefined>, failure: string): Promise<T> {
  for (let lost = 0; lost < tries; lost += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new TwtxtError("store-failed", failure);
}
