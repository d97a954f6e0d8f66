// plugin/messages/inbox/stream-limit.ts: limits the event streams that are open at the same time.

export class StreamLimit {
  readonly #max: number;
  #open = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** @returns a function that ends the use of a stream, to be called at least once; `null` if all streams are in use */
  take(): (() => void) | null {
    if (this.#open >= this.#max) return null;
    this.#open += 1;
    let isOpen = true;
    return () => {
      if (isOpen) this.#open -= 1;
      isOpen = false;
    };
  }
}
