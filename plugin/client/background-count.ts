// plugin/client/background-count.ts: a number that the navigation shows, read in the background.
import { RefreshInterval } from "../author/refresh-interval.js";
import type { Clock } from "../clock.js";

const EVERY_MS = 60_000;

/** No page waits for it: a page shows the number that was read last, and asks for a newer one once a minute. */
export class BackgroundCount {
  readonly #read: () => Promise<number>;
  readonly #ending: AbortSignal;
  readonly #interval: RefreshInterval;
  #count = 0;

  /** @param read - if it fails, the number stays: the page of the room says why */
  constructor(read: () => Promise<number>, { machine, ending }: { machine: { now: Clock }; ending: AbortSignal }) {
    this.#read = read;
    this.#ending = ending;
    this.#interval = new RefreshInterval(EVERY_MS, machine.now);
  }

  /** The last known number; 0 before the first one. */
  get current(): number {
    if (!this.#ending.aborted && this.#interval.claim()) {
      void this.#read().then(
        (count) => this.set(count),
        () => {},
      );
    }
    return this.#count;
  }

  /** Takes over a number that a page has just read. */
  set(count: number): void {
    this.#count = count;
    this.#interval.restart();
  }
}
