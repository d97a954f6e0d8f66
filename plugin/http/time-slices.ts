// plugin/http/time-slices.ts: long computations in slices, so that the server answers other requests in between.
import { setImmediate } from "node:timers/promises";
import { TwtxtError } from "../errors.js";

/** Several computations may be under way, each with a slice in every turn of the event loop. */
const SLICE_MS = 1;

/**
 * Divides a long computation into slices of a millisecond.
 *
 * @example for (const row of rows) { if (slices.isOver) await slices.next(); work(row); }
 */
export class TimeSlices {
  readonly #signal: AbortSignal | undefined;
  #start = performance.now();

  /** @param signal - a deadline, which ends the computation */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether it is time to call {@link next}. */
  get isOver(): boolean {
    return performance.now() - this.#start >= SLICE_MS;
  }

  /**
   * Lets the event loop run, and begins the next slice.
   *
   * @throws TwtxtError `unreachable` once the deadline has passed: there may be time for it later
   */
  async next(): Promise<void> {
    await setImmediate();
    if (this.#signal?.aborted) {
      throw new TwtxtError("unreachable", "It took too long to read the answer.", { cause: this.#signal.reason });
    }
    this.#start = performance.now();
  }

  /** As `some` of an array. */
  async some<T>(items: Iterable<T>, isWanted: (item: T) => boolean): Promise<boolean> {
    for (const item of items) {
      if (this.isOver) await this.next();
      if (isWanted(item)) return true;
    }
    return false;
  }

  /** As `Array.from`. */
  async arrayOf<T>(items: Iterable<T>): Promise<T[]> {
    const array: T[] = [];
    for (const item of items) {
      if (this.isOver) await this.next();
      array.push(item);
    }
    return array;
  }

  /** As `filter` of an array. */
  async filter<T>(items: readonly T[], isWanted: (item: T) => boolean): Promise<T[]> {
    const wanted: T[] = [];
    for (const item of items) {
      if (this.isOver) await this.next();
      if (isWanted(item)) wanted.push(item);
    }
    return wanted;
  }
}
