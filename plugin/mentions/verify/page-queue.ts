// plugin/mentions/verify/page-queue.ts: reads one page at a time, since the tree of a page takes up to 50 MiB.
import PQueue from "p-queue";
import { TwtxtError } from "../../errors.js";

/** Runs work one after the other. */
export class PageQueue {
  readonly #queue = new PQueue({ concurrency: 1 });

  /**
   * @param signal - the deadline, for the wait as well
   * @throws TwtxtError `unreachable` once the deadline has passed; no timeout of the source where it passed while others were read
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
      throw new TwtxtError("unreachable", "There was no time to read the page.", { cause });
    }
  }
}
