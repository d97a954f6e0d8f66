// plugin/mentions/receive/verification-queue.ts: limits concurrent verifications, and lets groups take turns.
import { groupBy } from "../../groups.js";
import { findWidestGroup, type Requester } from "./allowance.js";

/** PROTOCOL 2.4, "The proof". */
const CONCURRENCY = 3;
/** Leaves a slot for others when one sender's sources are slow. */
export const CONCURRENCY_PER_REQUESTER = 2;
const PATIENCE_MS = 5_000;

interface QueuedWork {
  /** That of its requester's widest network. */
  group: string;
  start(): void;
}

/** Runs at most three verifications concurrently, at most two of them for one requester. */
export class VerificationQueue {
  readonly #waiting = new Set<QueuedWork>();
  readonly #running = new Map<string, number>();

  constructor(private readonly patienceMs = PATIENCE_MS) {}

  /**
   * Runs `work` when a slot is free. The requester with the fewest running goes first, then the one that waits longest.
   *
   * @returns `null` if no slot was free within 5 s and the work was not started
   */
  async run<T>(requester: Requester, work: () => Promise<T>): Promise<T | null> {
    const group = findWidestGroup(requester);
    if (!(await this.#slot(group))) return null;
    try {
      return await work();
    } finally {
      this.#count(group, -1);
      this.#startNext();
    }
  }

  #slot(group: string): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        resolve(false);
      }, this.patienceMs);
      const start = () => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        this.#count(group, 1);
        resolve(true);
      };
      const waiting = { group, start };
      this.#waiting.add(waiting);
      this.#startNext();
    });
  }

  #startNext(): void {
    const total = [...this.#running.values()].reduce((sum, count) => sum + count, 0);
    if (total >= CONCURRENCY) return;
    const countRunning = ({ group }: QueuedWork) => this.#running.get(group) ?? 0;
    const ready = [...this.#waiting].filter((waiting) => countRunning(waiting) < CONCURRENCY_PER_REQUESTER);
    ready.sort((a, b) => countRunning(a) - countRunning(b))[0]?.start();
  }

  #count(group: string, change: number): void {
    const count = (this.#running.get(group) ?? 0) + change;
    if (count > 0) this.#running.set(group, count);
    else this.#running.delete(group);
  }
}

/**
 * Orders items so that their groups take turns: first the first item of each group. Groups are in the order of their first items.
 *
 * @param arrange - orders the items of a group; default: as they are
 * @example interleaveGroups(["a1", "a2", "b1"], ([name = ""]) => name) // ["a1", "b1", "a2"]
 */
export function interleaveGroups<T>(
  items: readonly T[],
  group: (item: T) => string,
  arrange = (ofGroup: readonly T[]): readonly T[] => ofGroup,
): T[] {
  const groups = [...groupBy(items, group).values()].map(arrange);
  const rounds = Math.max(0, ...groups.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) =>
    groups.flatMap((ofGroup) => ofGroup.slice(round, round + 1)),
  ).flat();
}
