import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { isTimeout } from "../../plugin/http/guard.js";
import { hostQueue } from "../../plugin/mentions/host-queue.js";
import { PageQueue } from "../../plugin/mentions/verify/verify.js";

const ABORTED = AbortSignal.abort(new DOMException("It took too long.", "TimeoutError"));
const never = new AbortController().signal;

/** A queue whose tasks a test ends. */
function hosts() {
  const queue = hostQueue();
  const running = new Map<string, () => void>();
  const started: string[] = [];
  return {
    running,
    started,
    add: (host: string, name = host, priority = 0) =>
      queue(
        host,
        () => {
          started.push(name);
          return new Promise<string>((resolve) => running.set(name, () => resolve(name)));
        },
        priority,
      ),
    async end(name: string) {
      running.get(name)?.();
      running.delete(name);
      await setImmediate();
    },
  };
}

describe("the queue of requests", () => {
  it("runs at most 32 tasks at once", async () => {
    const { add, end, started } = hosts();
    for (let host = 0; host < 40; host += 1) void add(`host-${host}`);
    await setImmediate();
    expect(started).toHaveLength(32);
    await end("host-7");
    expect(started.slice(32)).toEqual(["host-32"]);
  });

  it("runs one task per host at a time, in order, without delaying other hosts", async () => {
    const { add, end, started } = hosts();
    for (let task = 0; task < 50; task += 1) void add("slow", `slow-${task}`);
    for (const host of ["a", "b"]) void add(host);
    await setImmediate();
    expect(started).toEqual(["slow-0", "a", "b"]);
    await end("slow-0");
    expect(started.slice(3)).toEqual(["slow-1"]);
  });

  it("runs tasks with a higher priority first, within a host and across hosts", async () => {
    const { add, end, started } = hosts();
    for (let host = 0; host < 32; host += 1) void add(`host-${host}`);
    for (const name of ["a-1", "a-2"]) void add("host-0", name);
    void add("host-0", "a-urgent", 1);
    for (const host of ["b", "c"]) void add(host);
    void add("urgent", "urgent", 1);
    await setImmediate();
    await end("host-1");
    expect(started.slice(32)).toEqual(["urgent"]);
    await end("host-0");
    expect(started.slice(33)).toEqual(["b"]);
    await end("urgent");
    expect(started.slice(34)).toEqual(["a-urgent"]);
    await end("b");
    expect(started.slice(35)).toEqual(["c"]);
  });

  it("returns the result of a task, and continues after a failure", async () => {
    const queue = hostQueue();
    const failed = queue("a", () => Promise.reject(new Error("no")));
    const next = queue("a", async () => "next");
    await expect(failed).rejects.toThrow("no");
    expect(await next).toBe("next");
  });
});

describe("the queue of pages", () => {
  it("reads one page after another, and continues after a failure", async () => {
    const queue = new PageQueue();
    const read: string[] = [];
    const reading = (name: string) => async () => {
      read.push(`${name} begins`);
      await setImmediate();
      read.push(`${name} ends`);
      if (name === "a") throw new Error("a is broken");
      return name;
    };
    const results = await Promise.allSettled(["a", "b"].map((name) => queue.run(reading(name), never)));
    expect(read).toEqual(["a begins", "a ends", "b begins", "b ends"]);
    expect(results).toMatchObject([{ reason: { message: "a is broken" } }, { value: "b" }]);
  });

  it("keeps nothing of a page that was read in memory until its deadline", async () => {
    const { signal } = new AbortController();
    await new PageQueue().run(async () => "page", signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("unreachable, not by a timeout of its host: a page that waits for others until its deadline", async () => {
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

  it("unreachable by timeout: a page that takes too long itself", async () => {
    const deadline = new AbortController();
    const reading = new PageQueue().run(() => new Promise(() => {}), deadline.signal).catch((error: unknown) => error);
    await setImmediate();
    deadline.abort(ABORTED.reason);
    const error = await reading;
    expect(error).toMatchObject({ code: "unreachable" });
    expect(isTimeout(error)).toBe(true);
  });
});
