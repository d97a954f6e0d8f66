import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PostedClaim } from "../../../plugin/mentions/mention.js";
import { senderGroup } from "../../../plugin/mentions/receive/allowance.js";
import { PendingMentions } from "../../../plugin/mentions/receive/pending.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { SqliteStore } from "../../../plugin/store/sqlite.js";
import type { Store } from "../../../plugin/store/store.js";

const HOUR = 3600_000;
const SENDER = senderGroup("192.0.2.1");

function claim(source: string, timestamp = "2026-01-02T03:04:05Z"): PostedClaim {
  return {
    source,
    timestamps: [timestamp],
    target: { url: "https://alice.example/twtxt.txt", kind: "feed" },
    under: null,
  };
}

function pendingMentions(limits = { pending: 50, pendingPerHost: 2 }, store: Store = memoryStore()) {
  const clock = { time: Date.parse("2026-11-20T09:00:00Z") };
  const logged: string[] = [];
  const log = (line: string) => void logged.push(line);
  return { clock, store, logged, pending: new PendingMentions({ store, now: () => clock.time, limits, log }) };
}

describe("a pending mention", () => {
  it("is stored once when sent repeatedly", async () => {
    const { pending } = pendingMentions();
    await Promise.all([1, 2, 3].map(() => pending.add(claim("https://bob.example/tw.txt"), SENDER)));
    expect(await pending.all()).toMatchObject([{ source: "https://bob.example/tw.txt", attempts: 0 }]);
  });

  it("too-many-pending: too many are pending from one host", async () => {
    const { pending } = pendingMentions();
    await pending.add(claim("https://bob.example/1"), SENDER);
    await pending.add(claim("https://bob.example/2"), SENDER);
    await expect(pending.add(claim("https://bob.example/3"), SENDER)).rejects.toMatchObject({
      code: "too-many-pending",
    });
    await pending.add(claim("https://bob.example/1"), SENDER);
    await pending.add(claim("https://carol.example/1"), SENDER);
    expect(await pending.all()).toHaveLength(3);
  });

  it("too-many-pending: too many are pending in total", async () => {
    const { pending } = pendingMentions({ pending: 5, pendingPerHost: 2 });
    const add = (n: number) => pending.add(claim(`https://host${n}.example/`), senderGroup(`192.0.2.${n}`));
    for (let n = 0; n < 5; n += 1) await add(n);
    await expect(add(5)).rejects.toMatchObject({ code: "too-many-pending" });
  });

  it("too-many-pending: one sender has a tenth of all, from however many hosts; others can still send", async () => {
    const { pending, store } = pendingMentions({ pending: 500, pendingPerHost: 20 });
    const eve = senderGroup("192.0.2.66");
    for (let n = 0; n < 50; n += 1) await pending.add(claim(`https://n${n}.eve.example/`), eve);
    const next = pending.add(claim("https://n50.eve.example/"), eve);
    await expect(next).rejects.toMatchObject({
      code: "too-many-pending",
      message: expect.stringContaining("your network address"),
    });
    await pending.add(claim("https://n0.eve.example/"), eve);
    await pending.add(claim("https://bob.example/"), senderGroup("192.0.2.7"));
    expect(await pending.all()).toHaveLength(51);

    const [one] = await pending.all();
    if (one) await pending.drop(one);
    await pending.add(claim("https://n50.eve.example/"), eve);
    expect((await store.keys("")).join()).not.toContain("192.0.2");
  });

  it("too-many-pending: the /64s of one IPv6 /48 have three tenths together; other networks can still send", async () => {
    const { pending } = pendingMentions({ pending: 50, pendingPerHost: 20 });
    const add = (n: number, address: string) => pending.add(claim(`https://n${n}.example/`), senderGroup(address));
    for (let n = 0; n < 15; n += 1) await add(n, `2001:db8:1:${n}`);
    await expect(add(15, "2001:db8:1:15")).rejects.toMatchObject({ code: "too-many-pending" });
    await add(16, "2001:db8:2:0");
    await add(17, "192.0.2.7");
    expect(await pending.all()).toHaveLength(17);
  });

  it.each([
    ["cut off", '{"source":"https://bob.ex'],
    ["empty", ""],
    [
      "another schema",
      JSON.stringify({ ...claim("https://bob.example/tw.txt"), source: "bob", since: 0, attempts: 0 }),
    ],
  ])(
    "is skipped with one log line if its record is damaged (%s), and replaced when it is sent again",
    async (_, text) => {
      const { pending, store, logged } = pendingMentions();
      await pending.add(claim("https://bob.example/tw.txt"), SENDER);
      const [key = ""] = await store.keys("");
      await pending.add(claim("https://bob.example/other.txt"), SENDER);
      await store.put(key, Buffer.from(text));
      const sources = async () => (await pending.all()).map(({ source }) => source).sort();
      expect(await sources()).toEqual(["https://bob.example/other.txt"]);
      expect(await sources()).toEqual(["https://bob.example/other.txt"]);
      expect(logged).toEqual([expect.stringContaining(key)]);

      await pending.add(claim("https://bob.example/tw.txt"), SENDER);
      expect(await sources()).toEqual(["https://bob.example/other.txt", "https://bob.example/tw.txt"]);
    },
  );

  it("is skipped if the store finds its file damaged, and replaced when it is sent again", async () => {
    const folder = mkdtempSync(join(tmpdir(), "twtxt-pending-"));
    const store = new SqliteStore(folder);
    const { pending } = pendingMentions(undefined, store);
    await pending.add(claim("https://bob.example/tw.txt"), SENDER);
    for (const key of await store.keys("mentions/pending/")) await store.put(key, Buffer.from("{"));
    await pending.add(claim("https://bob.example/other.txt"), SENDER);
    expect(await pending.all()).toMatchObject([{ source: "https://bob.example/other.txt" }]);
    await pending.add(claim("https://bob.example/tw.txt"), SENDER);
    expect(await pending.all()).toHaveLength(2);
    rmSync(folder, { recursive: true });
  });

  it("is tried at most five times over a day, then dropped", async () => {
    const { pending, clock } = pendingMentions();
    const start = clock.time;
    await pending.add(claim("https://bob.example/tw.txt"), SENDER);
    const attempts: number[] = [];
    for (let hour = 0; hour <= 48; hour += 1) {
      clock.time = start + hour * HOUR;
      for (const mention of await pending.all()) {
        if (!pending.isDue(mention)) continue;
        attempts.push(hour);
        if (await pending.noteAttempt(mention)) await pending.drop(mention);
      }
    }
    expect(attempts).toHaveLength(5);
    expect(attempts.at(0)).toBeGreaterThan(0);
    expect(attempts.at(-1)).toBe(24);
    expect(await pending.all()).toEqual([]);
  });

  it("is due if the clock was ahead when the mention was stored", async () => {
    const { pending, clock } = pendingMentions();
    const { time } = clock;
    clock.time += 24 * HOUR;
    await pending.add(claim("https://bob.example/tw.txt"), SENDER);
    clock.time = time;
    expect((await pending.all()).map((mention) => pending.isDue(mention))).toEqual([true]);
  });

  it("is listed oldest first", async () => {
    const { pending, clock } = pendingMentions();
    for (const name of ["c", "a", "b"]) {
      await pending.add(claim(`https://${name}.example/`), SENDER);
      clock.time += 1000;
    }
    expect((await pending.all()).map(({ source }) => source)).toEqual([
      "https://c.example/",
      "https://a.example/",
      "https://b.example/",
    ]);
  });
});
