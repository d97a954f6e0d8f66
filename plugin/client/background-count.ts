// plugin/client/background-count.ts: a number that the navigation shows, read in the background.

const EVERY_MS = 60_000;

/** No page waits for it: a page shows the number that was read last, and asks for a newer one once a minute. */
export class BackgroundCount {
  readonly #read: () => Promise<number>;
  readonly #ending: AbortSignal;
  #count = 0;
  #readAt = Number.NEGATIVE_INFINITY;

  /** @param read - if it fails, the number stays: the page of the room says why */
  constructor(read: () => Promise<number>, ending: AbortSignal) {
    this.#read = read;
    this.#ending = ending;
  }

  /** The last known number; 0 before the first one. */
  get current(): number {
    const now = performance.now();
    if (now - this.#readAt >= EVERY_MS && !this.#ending.aborted) {
      this.#readAt = now;
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
    this.#readAt = performance.now();
  }
}
