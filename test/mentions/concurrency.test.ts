import { describe, expect, it } from "vitest";
import { coalesce } from "../../plugin/mentions/concurrency.js";

/** Work that ends when a test ends it. */
function gated() {
  const runs: { end(): void; fail(error: Error): void }[] = [];
  let seen = "nothing";
  const run = coalesce(() => {
    const found = seen;
    return new Promise<string>((resolve, reject) => runs.push({ end: () => resolve(found), fail: reject }));
  });
  const begun = (count: number) => expect.poll(() => runs.length).toBe(count);
  const write = (text: string) => {
    seen = text;
  };
  return { run, runs, begun, write };
}

describe("coalesce calls", () => {
  it("share one run, and calls during it share the next, which sees what was written before them", async () => {
    const { run, runs, begun, write } = gated();
    const first = [run(), run(), run()];
    await begun(1);
    write("news");
    const second = [run(), run()];
    runs[0]?.end();
    expect(await Promise.all(first)).toEqual(["nothing", "nothing", "nothing"]);
    await begun(2);
    runs[1]?.end();
    expect(await Promise.all(second)).toEqual(["news", "news"]);
    expect(runs).toHaveLength(2);
  });

  it("fail together, and the next run is not affected", async () => {
    const { run, runs, begun } = gated();
    const first = [run(), run()];
    await begun(1);
    const second = run();
    runs[0]?.fail(new Error("down"));
    for (const call of first) await expect(call).rejects.toThrow("down");
    await begun(2);
    runs[1]?.end();
    expect(await second).toBe("nothing");
  });
});
