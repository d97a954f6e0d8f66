import { describe, expect, it } from "vitest";
import { isTimeout } from "../../../plugin/http/guard.js";
import { PageQueue } from "../../../plugin/mentions/verify/page-queue.js";

const ABORTED = AbortSignal.abort(new DOMException("It took too long.", "TimeoutError"));
const never = new AbortController().signal;

describe("pages that are to be read", () => {
  it("are read one after the other, and go on after one that fails", async () => {
    const queue = new PageQueue();
    const read: string[] = [];
    const reading = (name: string) => async () => {
      read.push(`${name} begins`);
      await new Promise(setImmediate);
      read.push(`${name} ends`);
      if (name === "a") throw new Error("a is broken");
      return name;
    };
    const results = await Promise.allSettled(["a", "b"].map((name) => queue.run(reading(name), never)));
    expect(read).toEqual(["a begins", "a ends", "b begins", "b ends"]);
    expect(results).toMatchObject([{ reason: { message: "a is broken" } }, { value: "b" }]);
  });

  it("unreachable, but no timeout of its host: one that waits for others until its time is over", async () => {
    const queue = new PageQueue();
    let end = () => {};
    const first = queue.run(() => new Promise<void>((resolve) => (end = resolve)), never);
    const deadline = new AbortController();
    const second = queue.run(async () => expect.fail("It is read."), deadline.signal).catch((error: unknown) => error);
    deadline.abort(ABORTED.reason);
    const error = await second;
    expect(error).toMatchObject({ code: "unreachable" });
    expect(isTimeout(error)).toBe(false);
    end();
    await first;
  });

  it("unreachable, by timeout: one that takes too long itself", async () => {
    const deadline = new AbortController();
    const reading = new PageQueue().run(() => new Promise(() => {}), deadline.signal).catch((error: unknown) => error);
    await new Promise(setImmediate);
    deadline.abort(ABORTED.reason);
    const error = await reading;
    expect(error).toMatchObject({ code: "unreachable" });
    expect(isTimeout(error)).toBe(true);
  });
});
