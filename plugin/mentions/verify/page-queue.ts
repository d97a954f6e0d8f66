// plugin/mentions/verify/page-queue.ts: parses one page at a time, since a page's tree takes up to 50 MiB.
import PQueue from "p-queue";
import { TwtxtError } from "../../errors.js";

/** Runs work sequentially. */
export class PageQueue {
  readonly #queue = new PQueue({ concurrency: 1 });

  /**
   * @param signal - the deadline, waiting included
   * @throws TwtxtError `unreachable` after the deadline; not marked as a timeout of the source if it passed while waiting
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    let isWaiting = !signal.aborted;
    const begin = () => {
      isWaiting = false;
      return work();
    };
    try {
      return await this.#queue.add(begin, { signal });
    } catch (error) {
      if (error !== signal.reason) throw error;
      const cause = isWaiting ? undefined : error;
      throw new TwtxtError("unreachable", "The page could not be read in time.", { cause });
    }
  }
}
