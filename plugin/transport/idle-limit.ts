// plugin/transport/idle-limit.ts: a timeout for connections on which nothing moves. The total time is not limited.

/** An idle timeout, which counts only between {@link start} and {@link stop}. */
export class IdleLimit {
  /** Aborted at the timeout, by `end`, and by the given signals. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  /** @param idleMs - the timeout in milliseconds */
  constructor(
    private readonly idleMs: number,
    signals: readonly (AbortSignal | undefined)[] = [],
  ) {
    this.signal = AbortSignal.any([this.#controller.signal, ...signals.filter((signal) => signal !== undefined)]);
  }

  start(): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#controller.abort(new Error(`no data for ${this.idleMs / 1000} s`));
    }, this.idleMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    this.stop();
    this.#controller.abort();
  }

  /** Passes chunks on, and restarts the timer with each of them and at their end. */
  async *watch(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.start();
      yield chunk;
    }
    this.start();
  }
}
