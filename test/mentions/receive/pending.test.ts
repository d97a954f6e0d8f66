import { describe, expect, it } from "vitest";
import { allowance } from "../../../plugin/mentions/receive/allowance.js";
import { pendingMentions } from "../../../plugin/mentions/receive/pending.js";
import type { ReadClaim } from "../../../plugin/mentions/receive/read-claim.js";
import { memoryStore } from "../../../plugin/store/memory.js";

const HOUR = 3600_000;

function claim(source: string, timestamp = "2026-01-02T03:04:05Z"): ReadClaim {
  return {
    source,
    timestamps: [timestamp],
    target: { url: "https://alice.example/twtxt.txt", kind: "feed" },
    under: null,
  };
}

function waiting(limits = { pending: 5, pendingPerHost: 2 }) {
  const clock = { time: Date.parse("2026-11-20T09:00:00Z") };
  const store = memoryStore();
  return { clock, store, pending: pendingMentions({ store, now: () => clock.time, limits }) };
}

describe("a pending mention", () => {
  it("waits once, however often it is sent", async () => {
    const { pending } = waiting();
    await Promise.all([1, 2, 3].map(() => pending.add(claim("https://bob.example/tw.txt"))));
    expect(await pending.all()).toMatchObject([{ source: "https://bob.example/tw.txt", attempts: 0 }]);
  });

  it("too-many-pending: too many of one host wait", async () => {
    const { pending } = waiting();
    await pending.add(claim("https://bob.example/1"));
    await pending.add(claim("https://bob.example/2"));
    await expect(pending.add(claim("https://bob.example/3"))).rejects.toMatchObject({ code: "too-many-pending" });
    await pending.add(claim("https://bob.example/1"));
    await pending.add(claim("https://carol.example/1"));
    expect(await pending.all()).toHaveLength(3);
  });

  it("too-many-pending: too many wait in all", async () => {
    const { pending } = waiting();
    for (let n = 0; n < 5; n += 1) await pending.add(claim(`https://host${n}.example/`));
    await expect(pending.add(claim("https://host9.example/"))).rejects.toMatchObject({ code: "too-many-pending" });
  });

  it("is tried at most five times over a day, then dropped", async () => {
    const { pending, clock } = waiting();
    const start = clock.time;
    await pending.add(claim("https://bob.example/tw.txt"));
    const attempts: number[] = [];
    for (let hour = 0; hour <= 48; hour += 1) {
      clock.time = start + hour * HOUR;
      for (const mention of await pending.all()) {
        if (!pending.isDue(mention)) continue;
        attempts.push(hour);
        await pending.noteAttempt(mention);
      }
    }
    expect(attempts).toHaveLength(5);
    expect(attempts.at(0)).toBeGreaterThan(0);
    expect(attempts.at(-1)).toBe(24);
    expect(await pending.all()).toEqual([]);
  });

  it("comes oldest first", async () => {
    const { pending, clock } = waiting();
    for (const name of ["c", "a", "b"]) {
      await pending.add(claim(`https://${name}.example/`));
      clock.time += 1000;
    }
    expect((await pending.all()).map(({ source }) => source)).toEqual([
      "https://c.example/",
      "https://a.example/",
      "https://b.example/",
    ]);
  });
});

describe("what strangers may use up", () => {
  function allowed(limits = { slowHostPause: 3600, verificationSeconds: 1000 }) {
    const clock = { time: Date.parse("2026-11-20T09:00:00Z") };
    const store = memoryStore();
    return { clock, store, allowed: allowance({ store, now: () => clock.time, limits }) };
  }

  it("a host that timed out is not asked for an hour, others are", async () => {
    const { allowed: may, clock } = allowed();
    await may.note("https://slow.example/a", 10_000, true);
    expect(await may.mayAsk("http://slow.example:8080/b")).toBe(false);
    expect(await may.mayAsk("https://quick.example/")).toBe(true);
    clock.time += HOUR;
    expect(await may.mayAsk("https://slow.example/a")).toBe(true);
  });

  it("a host that was slow and did answer is asked again, and with a pause of 0 every host is", async () => {
    const one = allowed();
    await one.allowed.note("https://slow.example/a", 9000, false);
    expect(await one.allowed.mayAsk("https://slow.example/a")).toBe(true);
    const none = allowed({ slowHostPause: 0, verificationSeconds: 1000 });
    await none.allowed.note("https://slow.example/a", 10_000, true);
    expect(await none.allowed.mayAsk("https://slow.example/a")).toBe(true);
  });

  it("after a thousand seconds nobody is asked until the next day", async () => {
    const { allowed: may, clock } = allowed();
    for (let n = 0; n < 100; n += 1) await may.note(`https://host${n}.example/`, 10_000, false);
    expect(await may.mayAsk("https://bob.example/")).toBe(false);
    clock.time += 15 * HOUR;
    expect(await may.mayAsk("https://bob.example/")).toBe(true);
  });

  it("what counts no more is forgotten", async () => {
    const { allowed: may, clock, store } = allowed();
    await may.note("https://slow.example/", 10_000, true);
    await may.sweep();
    expect(await store.keys("")).toHaveLength(2);
    clock.time += 24 * HOUR;
    await may.sweep();
    expect(await store.keys("")).toEqual([]);
  });
});
