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

  constructor(context: Pick<ClientContext, "machine" | "ending">) {
    this.#context = context;
  }

  /** Resolves when it has begun, or at once while it is under way. @throws the error of `open` */
  async start(open: () => Promise<AsyncIterable<Result>>): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    try {
      const results = await open();
      Object.assign(this, { results: [], startedAt: this.#context.machine.now(), fault: null });
      void this.#collect(results);
    } catch (error) {
      this.isRunning = false;
      throw error;
    }
  }

  async #collect(results: AsyncIterable<Result>): Promise<void> {
    const { ending, machine } = this.#context;
    try {
      for await (const result of results) {
        this.results.push(result);
        if (ending.aborted) return;
      }
    } catch (error) {
      this.fault = faultText(error, machine);
    } finally {
      this.isRunning = false;
    }
  }
}
