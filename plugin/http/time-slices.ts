// plugin/http/time-slices.ts: long computations in short slices, between which other requests are answered.
import { setImmediate } from "node:timers/promises";
import { TwtxtError } from "../errors.js";

/** Short, because several computations may each use a slice in every turn of the event loop. */
const SLICE_MS = 1;

const PIECE_LENGTH = 4096;

/**
 * Divides a long computation into slices of one millisecond.
 *
 * @example for (const row of rows) { if (slices.isOver) await slices.next(); work(row); }
 */
export class TimeSlices {
  #start = performance.now();

  /** @param signal - the deadline of the computation */
  constructor(private readonly signal?: AbortSignal) {}

  /** Whether it is time to call {@link next}. */
  get isOver(): boolean {
    return performance.now() - this.#start >= SLICE_MS;
  }

  /**
   * Yields to the event loop and starts the next slice.
   *
   * @throws TwtxtError `unreachable` after the deadline: a later attempt may have more time
   */
  async next(): Promise<void> {
    await setImmediate();
    if (this.signal?.aborted) {
      throw new TwtxtError("unreachable", "It took too long to read the answer.", { cause: this.signal.reason });
    }
    this.#start = performance.now();
  }

  /** Like `Array.prototype.some`. */
  async some<T>(items: Iterable<T>, isWanted: (item: T) => boolean): Promise<boolean> {
    for (const item of items) {
      if (this.isOver) await this.next();
      if (isWanted(item)) return true;
    }
    return false;
  }

  /** Like `Array.from`. */
  async map<T, R>(items: Iterable<T>, convert: (item: T) => R): Promise<R[]> {
    const array: R[] = [];
    for (const item of items) {
      if (this.isOver) await this.next();
      array.push(convert(item));
    }
    return array;
  }

  /** Like `Array.prototype.filter`. */
  async filter<T>(items: readonly T[], isWanted: (item: T) => boolean): Promise<T[]> {
    return (await this.map(items, (item) => (isWanted(item) ? [item] : []))).flat();
  }
}

/**
 * Cuts a long text into pieces that are quick to search: after the first boundary beyond each 4,096 characters.
 *
 * @param boundary - matches one character; with the flag `g`
 */
export function* textPieces(text: string, boundary: RegExp): Iterable<string> {
  for (let start = 0; start < text.length; ) {
    boundary.lastIndex = start + PIECE_LENGTH;
    const end = boundary.exec(text)?.index ?? text.length;
    yield text.slice(start, end + 1);
    start = end + 1;
  }
}
