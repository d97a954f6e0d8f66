import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Lease, type LeaseOptions, withLease } from "../../plugin/store/lease.js";
import { memoryStore } from "../../plugin/store/memory.js";
import { faultyStore } from "../helpers/faulty-store.js";

const SECOND = 1000;

/** A clock that a test advances, and that wakes its sleepers. */
function steppedClock() {
  let time = Date.parse("2026-11-20T09:00:00Z");
  let sleepers: { at: number; wake: () => void }[] = [];
  return {
    now: () => time,
    sleep: (milliseconds: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        const wake = () => {
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        sleepers.push({ at: time + milliseconds, wake });
        signal?.addEventListener("abort", wake);
      }),
    async step(seconds: number) {
      for (let second = 0; second < seconds; second += 1) {
        time += SECOND;
        const due = sleepers.filter(({ at }) => at <= time);
        sleepers = sleepers.filter(({ at }) => at > time);
        for (const { wake } of due) wake();
        await setImmediate();
      }
    },
  };
}

function place() {
  const clock = steppedClock();
  const store = faultyStore(memoryStore());
  /** A run that a test ends. */
  const run = (options: Partial<LeaseOptions> = {}) => {
    const state = { startedAt: null as number | null, lease: null as Lease | null, end: () => {}, waits: 0 };
    const work = (lease: Lease) => {
      state.lease = lease;
      state.startedAt = clock.now();
      return new Promise<string>((resolve) => {
        state.end = () => resolve("done");
      });
    };
    const onWaiting = () => {
      state.waits += 1;
    };
    const all = { store, now: clock.now, sleep: clock.sleep, patience: 0, onWaiting, ...options };
    const ended = withLease("sent/lease", all, work).then(
      (result) => result ?? "held by another",
      ({ code }) => code,
    );
    return Object.assign(state, { ended });
  };
  return { clock, store, run };
}

/** The sleep of a killed or suspended process: no clock wakes it. */
function forever(_: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
}

describe("a lease", () => {
  it("excludes a second run for as long as the first one works, and is released when it ends", async () => {
    const { clock, run } = place();
    const first = run();
    await clock.step(1);
    expect(await run().ended).toBe("held by another");

    const patient = run({ patience: 45 * SECOND });
    for (let second = 0; second < 44; second += 1) {
      await clock.step(1);
      expect(first.lease?.isHeld()).toBe(true);
    }
    expect(patient).toMatchObject({ waits: 1, startedAt: null });
    await clock.step(2);
    expect(await patient.ended).toBe("held by another");

    first.end();
    expect(await first.ended).toBe("done");
    const next = run();
    await clock.step(1);
    expect(next.lease?.isHeld()).toBe(true);
  });

  it("is released when the work fails", async () => {
    const { clock, store, run } = place();
    const options = { store, now: clock.now, sleep: clock.sleep, patience: 0 };
    await expect(withLease("sent/lease", options, () => Promise.reject(new Error("no feed")))).rejects.toThrow(
      "no feed",
    );
    const next = run();
    await clock.step(1);
    expect(next.lease?.isHeld()).toBe(true);
  });

  it("is given to one of two concurrent runs", async () => {
    const { clock, run } = place();
    const both = [run(), run()];
    await clock.step(1);
    expect(both.map(({ lease }) => lease !== null).sort()).toEqual([false, true]);
  });

  it("of a killed run is taken over after 30 s, not before", async () => {
    const { clock, run } = place();
    const killed = run({ sleep: forever });
    await setImmediate();
    const next = run({ patience: 45 * SECOND });
    await clock.step(29);
    expect(next.startedAt).toBeNull();
    await clock.step(1);
    expect(next.startedAt).toBe((killed.startedAt ?? 0) + 30 * SECOND);
  });

  it("of a killed run is taken over immediately if its clock was an hour ahead, but not if it was a minute ahead", async () => {
    const { clock, run } = place();
    run({ sleep: forever, now: () => clock.now() + 60 * SECOND });
    await setImmediate();
    expect(await run().ended).toBe("held by another");
    const another = place();
    another.run({ sleep: forever, now: () => another.clock.now() + 3600 * SECOND });
    await setImmediate();
    const next = another.run();
    await another.clock.step(1);
    expect(next.lease?.isHeld()).toBe(true);
  });

  it("is not taken over by a run whose clock is five minutes ahead, while the first one works", async () => {
    const { clock, run } = place();
    const first = run();
    await clock.step(1);
    const ahead = () => clock.now() + 300 * SECOND;
    const [hasty, patient] = [run({ now: ahead }), run({ now: ahead, patience: 45 * SECOND })];
    await clock.step(60);
    expect(await Promise.all([hasty.ended, patient.ended])).toEqual(["held by another", "held by another"]);
    expect(first.lease?.isHeld()).toBe(true);
  });

  it("of a killed run is taken over by a run whose clock is five minutes ahead, after 10 s without a renewal", async () => {
    const { clock, run } = place();
    run({ sleep: forever });
    await setImmediate();
    const next = run({ now: () => clock.now() + 300 * SECOND });
    await clock.step(9);
    expect(next.startedAt).toBeNull();
    await clock.step(2);
    expect(next.lease?.isHeld()).toBe(true);
  });

  it("expires in a suspended run 20 s before another run can take it, and is lost when one does", async () => {
    const { clock, run } = place();
    const suspended = run({ sleep: forever });
    await setImmediate();
    const next = run({ patience: 45 * SECOND });
    await clock.step(9);
    expect(suspended.lease?.isHeld()).toBe(true);
    await clock.step(1);
    expect(suspended.lease?.isHeld()).toBe(false);
    await clock.step(20);
    expect(next.lease?.isHeld()).toBe(true);

    suspended.end();
    expect(await suspended.ended).toBe("done");
    expect(await run().ended).toBe("held by another");
    await clock.step(60);
    expect(next.lease?.isHeld()).toBe(true);
  });

  it("that another run took while the store was down is not reclaimed", async () => {
    const { clock, store, run } = place();
    const first = run();
    await clock.step(1);
    store.fail({ when: "before", operation: "put" });
    // So long that the lease has ended by all clocks.
    await clock.step(330);
    expect(first.lease?.isHeld()).toBe(false);
    store.repair();
    const next = run();
    await setImmediate();
    expect(next.lease?.isHeld()).toBe(true);
    await clock.step(60);
    expect([first.lease?.isHeld(), next.lease?.isHeld()]).toEqual([false, true]);
  });

  it.each(["before", "after"] as const)("remains held if the store fails %s one renewal", async (when) => {
    const { clock, store, run } = place();
    const first = run();
    await clock.step(1);
    store.fail({ when, operation: "put", times: 1 });
    for (let second = 0; second < 60; second += 1) {
      await clock.step(1);
      expect(first.lease?.isHeld() || (when === "before" && second < 10)).toBe(true);
    }
    expect(await run().ended).toBe("held by another");
  });

  it("is not granted if the store is down", async () => {
    const { store, run } = place();
    store.fail({ when: "before", operation: "put" });
    const first = run();
    expect(await first.ended).toBe("store-failed");
    expect(first.startedAt).toBeNull();
  });

  it("costs no read if this process released it last, and one if another process has had it since", async () => {
    const { clock, store } = place();
    const reads: string[] = [];
    const get = (key: string) => {
      reads.push(key);
      return store.get(key);
    };
    const options: LeaseOptions = { store: { ...store, get }, now: clock.now, memory: { released: null } };
    const take = () => withLease("sent/lease", options, async () => "done");
    expect([await take(), await take(), await take()]).toEqual(["done", "done", "done"]);
    expect(reads).toHaveLength(1);
    await withLease("sent/lease", { store, now: clock.now }, async () => {
      expect(await take()).toBeNull();
    });
    expect([await take(), await take()]).toEqual(["done", "done"]);
    expect(reads).toHaveLength(3);
  });
});
