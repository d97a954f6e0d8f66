// plugin/author/refresh-interval.ts: limits how often a process reads the same data again.
import type { Clock } from "../clock.js";

export class RefreshInterval {
  #start = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly milliseconds: number,
    private readonly now: Clock,
  ) {}

  /** @returns whether it is time to read the data again. If so, the next interval starts, so that one caller reads it. */
  claim(): boolean {
    const age = this.now() - this.#start;
    // The clock may have been set back.
    if (age >= 0 && age < this.milliseconds) return false;
    this.restart();
    return true;
  }

  /** Starts the next interval early, because the data was just read. */
  restart(): void {
    this.#start = this.now();
  }
}
