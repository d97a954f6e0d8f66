// plugin/mentions/host-queue.ts: a request queue with limits in total and per host.
import PQueue from "p-queue";

/**
 * Runs a task when a slot is free.
 *
 * @param priority - waiting tasks with a higher priority go first; default 0
 */
export type HostQueue = <T>(host: string, task: () => Promise<T>, priority?: number) => Promise<T>;

/**
 * Creates a queue. Tasks wait in their host's own queue, so a slow host does not delay others.
 *
 * @param total - concurrent tasks
 * @param perHost - concurrent tasks of one host
 */
export function hostQueue({ total = 32, perHost = 1 }: { total?: number; perHost?: number } = {}): HostQueue {
  const shared = new PQueue({ concurrency: total });
  const hosts = new Map<string, PQueue>();
  return (host, task, priority = 0) => {
    const own = hosts.get(host) ?? new PQueue({ concurrency: perHost });
    hosts.set(host, own);
    return own.add(() => shared.add(task, { priority }), { priority });
  };
}
