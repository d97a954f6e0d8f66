// plugin/mentions/polite-queue.ts: many servers at once, and each of them one request at a time.
import PQueue from "p-queue";

/**
 * Runs a task when it is its host's turn.
 *
 * @param priority - tasks with a higher one go first, among those that wait; default 0
 */
export type PoliteQueue = <T>(host: string, task: () => Promise<T>, priority?: number) => Promise<T>;

/**
 * A slow host takes one place of many and keeps nobody waiting but itself: what waits for a host waits in the host's own
 * queue, and not in the one that all share.
 *
 * @param total - how many tasks run at once
 * @param perHost - how many of one host do
 */
export function politeQueue({ total = 32, perHost = 1 }: { total?: number; perHost?: number } = {}): PoliteQueue {
  const everybody = new PQueue({ concurrency: total });
  const hosts = new Map<string, PQueue>();
  return (host, task, priority = 0) => {
    const own = hosts.get(host) ?? new PQueue({ concurrency: perHost });
    hosts.set(host, own);
    return own.add(() => everybody.add(task, { priority }), { priority });
  };
}
