// plugin/store/read-turns.ts: gives other work a turn between bursts of synchronous reads.

/** Reads in one turn of the event loop: some milliseconds. */
const READS = 100;

/**
 * A read of a database resolves without leaving the microtask queue. A loop of reads would keep timers and connections
 * waiting until its end.
 */
export class ReadTurns {
  readonly #waiting: (() => void)[] = [];
  #left = READS;

  /** @returns `undefined` for a read that can start at once */
  wait(): Promise<void> | undefined {
    if (this.#left === READS) setImmediate(this.#startTurn);
    if (this.#left > 0) {
      this.#left -= 1;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  readonly #startTurn = () => {
    const next = this.#waiting.splice(0, READS);
    this.#left = READS - next.length;
    if (next.length > 0) setImmediate(this.#startTurn);
    for (const resolve of next) resolve();
  };
}
