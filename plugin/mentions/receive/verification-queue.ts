// plugin/mentions/receive/verification-queue.ts: limits concurrent verifications.
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
  readonly #patienceMs: number;
  readonly #waiting = new Set<QueuedWork>();
  readonly #running = new Map<string, number>();

  constructor(patienceMs = PATIENCE_MS) {
    this.#patienceMs = patienceMs;
  }

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
      }, this.#patienceMs);
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
