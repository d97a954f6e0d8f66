import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { hostQueue } from "../../plugin/mentions/host-queue.js";

/** Tasks of hosts that end when a test says so. */
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

describe("the queue", () => {
  it("runs 32 at once and no more", async () => {
    const { add, end, started } = hosts();
    for (let host = 0; host < 40; host += 1) void add(`host-${host}`);
    await setImmediate();
    expect(started).toHaveLength(32);
    await end("host-7");
    expect(started.slice(32)).toEqual(["host-32"]);
  });

  it("runs one of a host at a time, in order, and keeps nobody else waiting for it", async () => {
    const { add, end, started } = hosts();
    for (let task = 0; task < 50; task += 1) void add("slow", `slow-${task}`);
    for (const host of ["a", "b"]) void add(host);
    await setImmediate();
    expect(started).toEqual(["slow-0", "a", "b"]);
    await end("slow-0");
    expect(started.slice(3)).toEqual(["slow-1"]);
  });

  it("runs tasks of a higher priority first, among those of a host and among all", async () => {
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

  it("hands on what a task gives, and goes on after one that fails", async () => {
    const queue = hostQueue();
    const failed = queue("a", () => Promise.reject(new Error("no")));
    const next = queue("a", async () => "next");
    await expect(failed).rejects.toThrow("no");
    expect(await next).toBe("next");
  });
});
