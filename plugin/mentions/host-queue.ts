// plugin/mentions/host-queue.ts: a queue in which a slow host does not delay others.
import PQueue from "p-queue";
import { remember } from "../groups.js";

/** Runs a task when a slot is free. @param priority - waiting tasks with a higher priority go first; default 0 */
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
    const own = remember(hosts, host, () => new PQueue({ concurrency: 1 }));
    return own.add(() => shared.add(task, { priority }), { priority });
  };
}
