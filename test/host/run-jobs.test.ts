import { describe, expect, it } from "vitest";
import { type Job, runJobs } from "../../plugin/host/run-jobs.js";
import { memoryStore } from "../../plugin/store/memory.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { faultyStore } from "../helpers/faulty-store.js";

/** Runs jobs that need these times in seconds, one second at a time; returns the order of these seconds, and the log. */
async function runOf(seconds: Record<string, number>, store: StreamingStore = memoryStore()) {
  const clock = { time: 0 };
  const order: string[] = [];
  const log: string[] = [];
  const left = { ...seconds };
  const jobs = Object.keys(seconds).map((name): Job => {
    const work: Job["work"] = async ({ isOver }) => {
      while ((left[name] ?? 0) > 0 && !isOver()) {
        clock.time += 1000;
        left[name] = (left[name] ?? 0) - 1;
        order.push(name);
      }
    };
    return { name, work };
  });
  await runJobs(jobs, { store, now: () => clock.time, log: (line) => void log.push(line) });
  return { order: order.join(""), log };
}

describe("a job of a run", () => {
  it("gets an equal share of the time that is left, and goes on when the others have ended", async () => {
    expect(await runOf({ a: 100, b: 0, c: 3, d: 0 })).toEqual({
      order: `${"a".repeat(5)}ccc${"a".repeat(12)}`,
      log: ["Not finished, the next run goes on: a."],
    });
    expect(await runOf({ a: 100, b: 100 })).toEqual({
      order: `${"a".repeat(10)}${"b".repeat(10)}`,
      log: ["Not finished, the next run goes on: a, b."],
    });
  });

  it("does not come first again after it has ended its process", async () => {
    const store = memoryStore();
    let isFirst = true;
    const started: string[] = [];
    const job = (name: string): Job => ({
      name,
      work: () => {
        started.push(name);
        return isFirst ? new Promise(() => {}) : Promise.resolve();
      },
    });
    const run = () => runJobs(["a", "b", "c"].map(job), { store, now: () => 0, log: () => {} });
    void run();
    await expect.poll(() => started).toEqual(["a"]);
    isFirst = false;
    await run();
    expect(started).toEqual(["a", "b", "c", "a"]);
  });

  it("runs although the last run cannot be read and this one not recorded, which is logged", async () => {
    const store = faultyStore(memoryStore());
    store.fail({ when: "before" });
    const { order, log } = await runOf({ a: 1, b: 1 }, store);
    expect(order).toBe("ab");
    expect(log).toEqual([
      expect.stringMatching("^The last run of the jobs could not be read: The store was down"),
      expect.stringMatching("^The run of the jobs could not be recorded: The store was down"),
      expect.stringMatching("^The run of the jobs could not be recorded: The store was down"),
    ]);
  });
});
