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
      if (pause > 0) await (options.sleep ?? sleep)(pause, options.signal);
      if (options.signal?.aborted) throw error;
    }
  }
}

/** The error of an attempt that lost a race with another process. */
export class LostRace extends TwtxtError {
  constructor(message: string) {
    super("store-failed", message);
  }
}

/**
 * Tries again after a lost race, without a pause: the other process has made progress.
 *
 * @throws LostRace of the last attempt, after this many
 */
export function winRace<T>(tries: number, attempt: () => Promise<T>): Promise<T> {
  return retry(attempt, { pauses: noPauses(tries - 1), mayRepeat: (error) => error instanceof LostRace });
}

function* noPauses(count: number): Iterable<number> {
  for (let i = 0; i < count; i += 1) yield 0;
}
