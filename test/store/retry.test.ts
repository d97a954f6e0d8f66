import { describe, expect, it } from "vitest";
import { LostRace, retry, winRace } from "../../plugin/store/retry.js";

/** Work that fails until the given call, and the pauses between its calls. */
function failing(succeedsAt: number) {
  const pauses: number[] = [];
  let calls = 0;
  const work = async () => {
    calls += 1;
    if (calls < succeedsAt) throw new Error(`failure ${calls}`);
    return calls;
  };
  const sleep = async (milliseconds: number) => void pauses.push(milliseconds);
  return { work, sleep, pauses };
}

describe("work that is tried again", () => {
  it("returns the result of the first try that succeeds, after the pauses before it", async () => {
    const { work, sleep, pauses } = failing(3);
    expect(await retry(work, { pauses: [10, 20, 30], sleep })).toBe(3);
    expect(pauses).toEqual([10, 20]);
  });

  it("throws the error of the last try once there are no more pauses", async () => {
    const { work, sleep } = failing(9);
    await expect(retry(work, { pauses: [10, 20], sleep })).rejects.toThrow("failure 3");
  });

  it("throws at once an error that may not be repeated", async () => {
    const { work, sleep, pauses } = failing(9);
    await expect(retry(work, { pauses: [10], sleep, mayRepeat: () => false })).rejects.toThrow("failure 1");
    expect(pauses).toEqual([]);
  });

  it("throws the last error, and starts nothing, if the signal is aborted during a pause", async () => {
    const { work } = failing(9);
    const ending = new AbortController();
    const sleep = async () => ending.abort();
    await expect(retry(work, { pauses: [10, 20], sleep, signal: ending.signal })).rejects.toThrow("failure 1");
  });
});

describe("a race with other processes", () => {
  it("is won by the first attempt that does not lose it", async () => {
    let lost = 0;
    const attempt = async () => {
      if (lost === 3) return null;
      lost += 1;
      throw new LostRace(`lost ${lost} times`);
    };
    expect(await winRace(4, attempt)).toBeNull();
    lost = -9;
    await expect(winRace(4, attempt)).rejects.toMatchObject({ code: "store-failed", message: "lost -5 times" });
  });

  it("ends with any other error", async () => {
    await expect(winRace(4, () => Promise.reject(new Error("no disk")))).rejects.toThrow("no disk");
  });
});
