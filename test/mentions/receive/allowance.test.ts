import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Allowance, AUTHOR, senderGroup } from "../../../plugin/mentions/receive/allowance.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { StreamingStore } from "../../../plugin/store/store.js";
import { faultyStore } from "../../helpers/faulty-store.js";

const HOUR = 3600_000;
const EVE = senderGroup("192.0.2.66");
const CAROL = senderGroup("192.0.2.7");
const BOB = senderGroup("198.51.100.9");

/** The allowance of a site, with a clock. */
function siteAllowance({ store = memoryStore() as StreamingStore, isMetered = true, slowHostPause = 3600 } = {}) {
  const clock = { time: Date.parse("2026-11-20T09:00:00Z") };
  const log: string[] = [];
  const allowance = new Allowance({
    store,
    now: () => clock.time,
    limits: { slowHostPause, verificationSeconds: 1000 },
    isMetered,
    log: (line) => void log.push(line),
  });
  return { clock, store, allowance, log };
}

/** A verification of ten seconds with a response. */
const TEN_SECONDS = { milliseconds: 10_000, isTimeout: false };
const TIMEOUT = { milliseconds: 10_000, isTimeout: true };

describe("a slow source host", () => {
  it("is not requested for an hour after a timeout; other hosts are", async () => {
    const { allowance, clock } = siteAllowance();
    await allowance.record("https://slow.example/a", EVE, TIMEOUT);
    expect(await allowance.permits("http://slow.example:8080/b", CAROL)).toBe(false);
    expect(await allowance.permits("https://quick.example/", CAROL)).toBe(true);
    clock.time += HOUR;
    expect(await allowance.permits("https://slow.example/a", CAROL)).toBe(true);
  });

  it("is one of the 1,000 newest that are remembered, because one domain can have any number of names", async () => {
    const { allowance, clock, store } = siteAllowance({ isMetered: false });
    const until = Array.from({ length: 10_000 }, (_, n) => [`name${n}`, clock.time + HOUR - 20_000 + n]);
    const before = { day: "2026-11-20", parties: {}, slow: Object.fromEntries(until) };
    await store.put("mentions/limits", Buffer.from(JSON.stringify(before)));
    await allowance.record("https://slow.example/", EVE, TIMEOUT);
    const { slow } = JSON.parse(Buffer.from((await store.get("mentions/limits"))?.bytes ?? []).toString());
    expect(Object.keys(slow)).toHaveLength(1_000);
    expect(slow).toHaveProperty("name9999");
    expect(await siteAllowance({ store }).allowance.permits("https://slow.example/", CAROL)).toBe(false);
  });

  it("is requested again after the clock was set back", async () => {
    const { allowance, clock } = siteAllowance();
    await allowance.record("https://slow.example/a", EVE, TIMEOUT);
    clock.time -= 24 * HOUR;
    expect(await allowance.permits("https://slow.example/a", CAROL)).toBe(true);
  });

  it("is requested again if it responded, and always with a pause of 0", async () => {
    const one = siteAllowance();
    await one.allowance.record("https://slow.example/a", EVE, TEN_SECONDS);
    expect(await one.allowance.permits("https://slow.example/a", EVE)).toBe(true);
    const none = siteAllowance({ slowHostPause: 0 });
    await none.allowance.record("https://slow.example/a", EVE, TIMEOUT);
    expect(await none.allowance.permits("https://slow.example/a", EVE)).toBe(true);
  });
});

describe("the verification time of a day", () => {
  it("is available to one sender's address up to a tenth; others keep their share", async () => {
    const { allowance } = siteAllowance();
    for (let n = 0; n < 177; n += 1) {
      if (await allowance.permits(`https://host${n}.example/`, EVE))
        await allowance.record(`https://host${n}.example/`, EVE, TEN_SECONDS);
    }
    expect(await allowance.permits("https://bob.example/", EVE)).toBe(false);
    expect(await allowance.permits("https://bob.example/", CAROL)).toBe(true);
    expect(await allowance.permits("https://bob.example/", BOB)).toBe(true);
  });

  it("is available to the /64s of one IPv6 /48 up to three tenths; other networks keep their share", async () => {
    const { allowance } = siteAllowance();
    for (let n = 0; n < 30; n += 1) {
      await allowance.record(`https://host${n}.example/`, senderGroup(`2001:db8:1:${n}`), TEN_SECONDS);
    }
    expect(await allowance.permits("https://bob.example/", senderGroup("2001:db8:1:99"))).toBe(false);
    expect(await allowance.permits("https://bob.example/", senderGroup("2001:db8:2:99"))).toBe(true);
  });

  it("is available to one source host up to a tenth, for all senders together", async () => {
    const { allowance } = siteAllowance();
    for (let n = 0; n < 10; n += 1)
      await allowance.record(`https://slow.example/${n}`, senderGroup(`192.0.2.${n}`), TEN_SECONDS);
    expect(await allowance.permits("https://slow.example/", CAROL)).toBe(false);
    expect(await allowance.permits("https://bob.example/", CAROL)).toBe(true);
  });

  it("is not used up for a chosen sender by another one, which chooses among the /64s of its /48", async () => {
    const { allowance } = siteAllowance();
    const own = Array.from({ length: 10_000 }, (_, n) => senderGroup(`8193:3512:1:${n}`));
    const [eve = ""] = [...own.filter((group) => group.startsWith(CAROL)), ...own];
    for (let n = 0; n < 10; n += 1) await allowance.record(`https://n${n}.eve.example/`, eve, TEN_SECONDS);
    expect(await allowance.permits("https://bob.example/", CAROL)).toBe(true);
  });

  it("is not used up for a chosen host by a sender that chooses among the names below its domain", async () => {
    const { allowance } = siteAllowance();
    const start = (host: string) => createHash("sha256").update(`source ${host}`).digest("hex").slice(0, 3);
    const names = Array.from({ length: 20_000 }, (_, n) => `n${n}.eve.example`);
    const name = names.find((name) => start(name) === start("bob.example"));
    for (let n = 0; n < 10; n += 1) await allowance.record(`https://${name}/${n}`, EVE, TEN_SECONDS);
    expect(await allowance.permits("https://bob.example/", CAROL)).toBe(true);
    expect(await allowance.permits(`https://${name}/`, CAROL)).toBe(false);
  });

  it("is available to one sender up to a tenth; new mentions are still verified", async () => {
    const { allowance } = siteAllowance();
    for (let n = 0; n < 10; n += 1) await allowance.record(`https://host${n}.example/`, BOB, TEN_SECONDS);
    expect(await allowance.permits("https://bob.example/", BOB)).toBe(false);
    expect(await allowance.permits("https://bob.example/", CAROL)).toBe(true);
  });

  it("is used up for everyone except the author after 1,000 seconds, and resets the next day", async () => {
    const { allowance, clock } = siteAllowance();
    for (let n = 0; n < 100; n += 1)
      await allowance.record(`https://host${n}.example/`, senderGroup(`192.0.2.${n}`), TEN_SECONDS);
    expect(await allowance.permits("https://bob.example/", senderGroup("198.51.100.1"))).toBe(false);
    expect(await allowance.permits("https://bob.example/", BOB)).toBe(false);
    expect(await allowance.permits("https://bob.example/", AUTHOR)).toBe(true);
    clock.time += 15 * HOUR;
    expect(await allowance.permits("https://bob.example/", senderGroup("198.51.100.1"))).toBe(true);
  });

  it("excludes the author's requests", async () => {
    const { allowance, store } = siteAllowance();
    for (let n = 0; n < 100; n += 1) await allowance.record("https://bob.example/", AUTHOR, TEN_SECONDS);
    expect(await allowance.permits("https://bob.example/", CAROL)).toBe(true);
    expect(await store.keys("")).toEqual([]);
  });

  it("is unlimited and not recorded on an unmetered host", async () => {
    const { allowance, store } = siteAllowance({ isMetered: false });
    for (let n = 0; n < 200; n += 1) await allowance.record("https://bob.example/", EVE, TEN_SECONDS);
    expect(await allowance.permits("https://bob.example/", EVE)).toBe(true);
    expect(await store.keys("")).toEqual([]);
  });

  it("includes every second of thirty concurrent processes, and of many verifications in one", async () => {
    const store = memoryStore();
    const processes = Array.from({ length: 30 }, () => siteAllowance({ store }));
    await Promise.all(
      processes.map(({ allowance }, n) =>
        allowance.record(`https://a${n}.example/`, senderGroup(`192.0.2.${n}`), {
          milliseconds: 20_000,
          isTimeout: false,
        }),
      ),
    );
    const { allowance, log } = siteAllowance({ store });
    await Promise.all(
      Array.from({ length: 39 }, (_, n) =>
        allowance.record(`https://b${n}.example/`, senderGroup(`198.51.100.${n}`), TEN_SECONDS),
      ),
    );
    expect(await siteAllowance({ store }).allowance.permits("https://bob.example/", CAROL)).toBe(true);
    await allowance.record("https://c.example/", "203.0.113.1", TEN_SECONDS);
    expect(await siteAllowance({ store }).allowance.permits("https://bob.example/", CAROL)).toBe(false);
    expect([...processes.flatMap((one) => one.log), ...log]).toEqual([]);
  });

  it("includes the time of other processes within ten seconds", async () => {
    const { allowance, store, clock } = siteAllowance();
    expect(await allowance.permits("https://bob.example/", EVE)).toBe(true);
    for (let n = 0; n < 10; n += 1)
      await siteAllowance({ store }).allowance.record("https://slow.example/", EVE, TEN_SECONDS);
    clock.time += 10_000;
    expect(await allowance.permits("https://bob.example/", EVE)).toBe(false);
  });

  it("is counted in memory if it cannot be stored, without failing a mention, and stored with the next one", async () => {
    const store = faultyStore(memoryStore());
    const { allowance, log } = siteAllowance({ store });
    store.fail({ when: "before", key: "mentions/" });
    for (let n = 0; n < 10; n += 1) await allowance.record("https://slow.example/", EVE, TIMEOUT);
    store.repair();
    expect(log).toContainEqual(expect.stringContaining("could not be stored"));
    expect(await allowance.permits("https://bob.example/", EVE)).toBe(false);
    expect(await allowance.permits("https://slow.example/", CAROL)).toBe(false);
    await allowance.record("https://quick.example/", CAROL, { milliseconds: 1, isTimeout: false });
    expect(await siteAllowance({ store }).allowance.permits("https://bob.example/", EVE)).toBe(false);
  });

  it("continues after a damaged record, which is logged", async () => {
    const { allowance, store, log } = siteAllowance();
    await store.put("mentions/limits", Buffer.from("{"));
    expect(await allowance.permits("https://bob.example/", CAROL)).toBe(true);
    await allowance.record("https://bob.example/", CAROL, TEN_SECONDS);
    expect(log).toHaveLength(2);
  });

  it("is stored without the addresses of senders, in small records", async () => {
    const { allowance, store } = siteAllowance();
    const senders = Array.from({ length: 5000 }, (_, n) => senderGroup(`2001:db8:${n}:0`));
    const brief = { milliseconds: 1, isTimeout: false };
    await Promise.all(senders.map((sender) => allowance.record("https://bob.example/", sender, brief)));
    const [key = ""] = await store.keys("");
    const bytes = Buffer.from((await store.get(key))?.bytes ?? []);
    expect(bytes.toString()).toMatch(
      /^\{"day":"2026-11-20","parties":\{("(all|[0-9a-f]{6}|[0-9a-f]{16})":\d+,?)+\},"slow":\{\}\}$/,
    );
    expect(bytes.length).toBeLessThan(64 * 1024);
  });

  it("is written once for several quick verifications after the first one", async () => {
    const { allowance, store } = siteAllowance();
    const brief = { milliseconds: 500, isTimeout: false };
    const readTotal = async () =>
      JSON.parse(Buffer.from((await store.get("mentions/limits"))?.bytes ?? []).toString()).parties.all;
    for (let n = 0; n < 4; n += 1) await allowance.record(`https://host${n}.example/`, EVE, brief);
    expect(await readTotal()).toBe(500);
    await allowance.record("https://bob.example/", EVE, brief);
    expect(await readTotal()).toBe(2500);
  });

  it("includes the first verification of each process, however short, because the process may end after it", async () => {
    const { allowance, store } = siteAllowance();
    for (let n = 0; n < 60; n += 1) {
      const brief = { milliseconds: 1_900, isTimeout: false };
      await siteAllowance({ store }).allowance.record(`https://host${n}.example/`, EVE, brief);
    }
    expect(await allowance.permits("https://bob.example/", EVE)).toBe(false);
    expect(await allowance.permits("https://bob.example/", CAROL)).toBe(true);
  });

  it("is no longer stored when the day is over, and neither are pauses of slow hosts", async () => {
    const { allowance, clock, store } = siteAllowance();
    await allowance.record("https://slow.example/", EVE, TIMEOUT);
    clock.time += 24 * HOUR;
    await allowance.record("https://bob.example/", CAROL, TEN_SECONDS);
    expect(JSON.parse(Buffer.from((await store.get("mentions/limits"))?.bytes ?? []).toString())).toMatchObject({
      day: "2026-11-21",
      parties: { all: 10_000 },
      slow: {},
    });
  });
});
