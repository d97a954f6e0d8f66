// plugin/client/background-run.ts: work in the background whose results a page shows as they arrive.
import { faultText } from "./fault.js";
import type { ClientContext } from "./room.js";

/** The last run, which may be under way. One at a time. */
export class BackgroundRun<Result> {
  readonly #context: Pick<ClientContext, "machine" | "ending">;
  results: Result[] = [];
  /** Milliseconds since 1970; `null` before the first run. */
  startedAt: number | null = null;
  isRunning = false;
  /** Why it stopped early, in sentences. */
  fault: string | null = null;
  /** Resolves when the last run has ended. */
  done: Promise<void> = Promise.resolve();

  constructor(context: Pick<ClientContext, "machine" | "ending">) {
    this.#context = context;
  }

  /** Resolves when it has begun, or at once while it is under way. @throws the error of `open` */
  start(open: () => Promise<AsyncIterable<Result>>): Promise<void> {
    return this.run(async () => {
      const results = await open();
      return () => this.#collect(results);
    });
  }

  /** The same for work that adds its results itself. */
  protected async run(open: () => Promise<() => Promise<void>>): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    try {
      const work = await open();
      Object.assign(this, { results: [], startedAt: this.#context.machine.now(), fault: null });
      this.done = this.#finish(work);
    } catch (error) {
      this.isRunning = false;
      throw error;
    }
  }

  async #collect(results: AsyncIterable<Result>): Promise<void> {
    for await (const result of results) {
      this.results.push(result);
      if (this.#context.ending.aborted) return;
    }
  }

  async #finish(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.fault = faultText(error, this.#context.machine);
    } finally {
      this.isRunning = false;
    }
  }
}
