import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { coalesce, mapInParallel } from "../plugin/concurrency.js";

/** Work that a test ends. */
function gated() {
  const runs: { end(): void; fail(error: Error): void }[] = [];
  let seen = "nothing";
  const run = coalesce(() => {
    const found = seen;
    return new Promise<string>((resolve, reject) => runs.push({ end: () => resolve(found), fail: reject }));
  });
  const waitForRuns = (count: number) => expect.poll(() => runs.length).toBe(count);
  const write = (text: string) => {
    seen = text;
  };
  return { run, runs, waitForRuns, write };
}

describe("coalesced calls", () => {
  it("share one run, and calls during it share the next, which sees all earlier writes", async () => {
    const { run, runs, waitForRuns, write } = gated();
    const first = [run(), run(), run()];
    await waitForRuns(1);
    write("news");
    const second = [run(), run()];
    runs[0]?.end();
    expect(await Promise.all(first)).toEqual(["nothing", "nothing", "nothing"]);
    await waitForRuns(2);
    runs[1]?.end();
    expect(await Promise.all(second)).toEqual(["news", "news"]);
    expect(runs).toHaveLength(2);
  });

  it("fail together, without affecting the next run", async () => {
    const { run, runs, waitForRuns } = gated();
    const first = [run(), run()];
    await waitForRuns(1);
    const second = run();
    runs[0]?.fail(new Error("down"));
    for (const call of first) await expect(call).rejects.toThrow("down");
    await waitForRuns(2);
    runs[1]?.end();
    expect(await second).toBe("nothing");
  });
});

describe("work for many items", () => {
  it("runs for a limited number of them at a time, and returns its results in their order", async () => {
    let [running, most] = [0, 0];
    const work = async (pauses: number) => {
      running += 1;
      most = Math.max(most, running);
      for (let n = 0; n < pauses; n += 1) await Promise.resolve();
      running -= 1;
      return pauses;
    };
    expect(await mapInParallel([5, 1, 4, 2, 3], 2, work)).toEqual([5, 1, 4, 2, 3]);
    expect(most).toBe(2);
    expect(await mapInParallel([], 2, work)).toEqual([]);
  });

  it("fails with the first error, after the work on all other items", async () => {
    const done: number[] = [];
    const work = async (item: number) => {
      if (item === 2) throw new Error("two");
      await setImmediate();
      done.push(item);
    };
    await expect(mapInParallel([1, 2, 3, 4], 2, work)).rejects.toThrow("two");
    expect(done).toEqual([1, 3, 4]);
  });
});
