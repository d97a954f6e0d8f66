// plugin/mentions/queues.ts: queues of requests and of pages.
import PQueue from "p-queue";
import { TwtxtError } from "../errors.js";

/**
 * Runs a task when a slot is free.
 *
 * @param priority - waiting tasks with a higher priority go first; default 0
 */
type HostQueue = <T>(host: string, task: () => Promise<T>, priority?: number) => Promise<T>;

/**
 * Creates a queue that runs one task of each host at a time. Tasks wait in their host's own queue, so a slow host does not
 * delay others.
 *
 * @param total - concurrent tasks
 */
export function hostQueue(total = 32): HostQueue {
  const shared = new PQueue({ concurrency: total });
  const hosts = new Map<string, PQueue>();
  return (host, task, priority = 0) => {
    const own = hosts.get(host) ?? new PQueue({ concurrency: 1 });
    hosts.set(host, own);
    return own.add(() => shared.add(task, { priority }), { priority });
  };
}

/** Reads one page at a time, since a page's tree takes up to 50 MiB. */
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
