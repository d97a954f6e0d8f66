import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { politeQueue } from "../../plugin/mentions/polite-queue.js";

/** Tasks of hosts that end when a test says so. */
function hosts() {
  const queue = politeQueue();
  const running = new Map<string, () => void>();
  const started: string[] = [];
  return {
    running,
    started,
    add: (host: string, name = host) =>
      queue(host, () => {
        started.push(name);
        return new Promise<string>((resolve) => running.set(name, () => resolve(name)));
      }),
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

  it("hands on what a task gives, and goes on after one that fails", async () => {
    const queue = politeQueue();
    const failed = queue("a", () => Promise.reject(new Error("no")));
    const next = queue("a", async () => "next");
    await expect(failed).rejects.toThrow("no");
    expect(await next).toBe("next");
  });
});
