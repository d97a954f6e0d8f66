import { describe, expect, it } from "vitest";
import { VerificationQueue } from "../../../plugin/mentions/receive/verification-queue.js";

const EVE = "192.0.2.66";
const CAROL = "192.0.2.7";

/** Work that a test ends, and the names of started work. */
function controlledWork(queue: VerificationQueue) {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (requester: string, name: string) =>
    queue.run(requester, () => {
      started.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { started, run, end };
}

describe("verifications", () => {
  it("run three at a time: the next one starts when one ends", async () => {
    const { started, run, end } = controlledWork(new VerificationQueue());
    const all = ["a", "b", "c", "d"].map((name) => run(`of ${name}`, name));
    await new Promise(setImmediate);
    expect(started).toEqual(["a", "b", "c"]);
    await end("b");
    expect(started).toEqual(["a", "b", "c", "d"]);
    for (const name of ["a", "c", "d"]) await end(name);
    expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"]);
  });

  it("from one sender never take all slots: another sender's starts immediately", async () => {
    const { started, run, end } = controlledWork(new VerificationQueue());
    const all = [run(EVE, "eve 1"), run(EVE, "eve 2"), run(EVE, "eve 3"), run(CAROL, "carol 1")];
    await new Promise(setImmediate);
    expect(started).toEqual(["eve 1", "eve 2", "carol 1"]);
    await end("carol 1");
    expect(started).toHaveLength(3);
    for (const name of ["eve 1", "eve 2", "eve 3"]) await end(name);
    expect(await Promise.all(all)).toEqual(["eve 1", "eve 2", "eve 3", "carol 1"]);
  });

  it("start with the sender that has the fewest running, even if another sender has more waiting", async () => {
    const { started, run, end } = controlledWork(new VerificationQueue());
    const busy = [run("of dan", "dan"), ...["1", "2", "3", "4"].map((n) => run(EVE, n)), run(CAROL, "carol")];
    await new Promise(setImmediate);
    expect(started).toEqual(["dan", "1", "2"]);
    await end("1");
    expect(started.at(-1)).toBe("carol");
    for (const name of ["dan", "2", "carol", "3", "4"]) await end(name);
    await Promise.all(busy);
  });

  it("stop waiting at their time limit, and are not started later", async () => {
    const { started, run, end } = controlledWork(new VerificationQueue(20));
    const busy = ["a", "b", "c"].map((name) => run(`of ${name}`, name));
    expect(await run(CAROL, "late")).toBeNull();
    for (const name of ["a", "b", "c"]) await end(name);
    await Promise.all(busy);
    expect(started).toEqual(["a", "b", "c"]);
  });

  it("free their slot if they fail", async () => {
    const queue = new VerificationQueue();
    const failed = Array.from({ length: 5 }, () => queue.run(EVE, () => Promise.reject(new Error("no"))));
    for (const one of failed) await expect(one).rejects.toThrow("no");
    expect(await queue.run(EVE, async () => "yes")).toBe("yes");
  });
});
