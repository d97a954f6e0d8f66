import { describe, expect, it } from "vitest";
import { isLater, KnownBlobs } from "../../../plugin/blobs/client/known-blobs.js";
import { memoryStore } from "../../../plugin/store/memory.js";

const AT = { origin: "https://alice.example", owner: "kex1alice" };
const NINE = "2026-11-20T09:00:00.000Z";
const TEN = "2026-11-20T10:00:00.000Z";
const STATE = { key: "A.b-c", created: NINE, sha256: "aa", isDeleted: false };

describe("KnownBlobs", () => {
  it("stores the newest state of each blob", async () => {
    const known = new KnownBlobs(memoryStore(), AT);
    expect(await known.get("A.b-c")).toBeNull();
    await known.record(STATE);
    await known.record({ ...STATE, created: TEN, isDeleted: true });
    await known.record({ ...STATE, sha256: "bb" });
    await known.record({ ...STATE, created: TEN, sha256: "bb" });
    await known.record({ ...STATE, key: "a.B-C" });
    expect(await known.get("A.b-c")).toEqual({ ...STATE, created: TEN, isDeleted: true });
    const { states, damaged } = await known.list();
    expect([states.map(({ key }) => key).sort(), damaged]).toEqual([["A.b-c", "a.B-C"], []]);
  });

  it("lists the states that can be read, names damaged records, and does not treat them as unknown", async () => {
    const store = memoryStore();
    const known = new KnownBlobs(store, AT);
    await known.record(STATE);
    const [place = ""] = await store.keys("newest/");
    await store.put(place, Buffer.from("junk"));
    await known.record({ ...STATE, key: "b" });
    const { states, damaged } = await known.list();
    expect([states.map(({ key }) => key), damaged]).toEqual([["b"], [expect.stringContaining(place)]]);
    await expect(known.get("A.b-c")).rejects.toMatchObject({ code: "store-failed" });
  });

  it("separates owners and sites", async () => {
    const store = memoryStore();
    await new KnownBlobs(store, AT).record(STATE);
    expect(await new KnownBlobs(store, { ...AT, origin: "http://alice.example" }).get("A.b-c")).toBeNull();
    expect((await new KnownBlobs(store, { ...AT, owner: "kex1bob" }).list()).states).toEqual([]);
  });
});

describe("the time of a state", () => {
  it.each([
    ["2026-11-20T09:00:01Z", "2026-11-20T09:00:00.999Z", true],
    ["2026-11-20T09:00:00Z", "2026-11-20T09:00:00.000Z", false],
    ["2026-11-20T09:00:00.1Z", "2026-11-20T09:00:00.09Z", true],
    ["2026-11-20T09:00:00.000000001Z", "2026-11-20T09:00:00Z", true],
    ["2026-11-20T09:00:00Z", "2026-11-20T09:00:00.000000001Z", false],
    ["2026-11-20T10:30:00+01:00", "2026-11-20T09:15:00Z", true],
    ["2026-11-20T10:00:00+01:00", "2026-11-20T09:00:00.000z", false],
    ["2026-11-20T05:00:00.5-04:00", "2026-11-20T09:00:00.50Z", false],
  ])("%s is later than %s: %s", (a, b, expected) => {
    expect(isLater(a, b)).toBe(expected);
  });

  it("is later than the newest known state, even if the clock is behind", async () => {
    const now = Date.parse(NINE);
    const timeAfter = async (states: string[], clock: number) => {
      const known = new KnownBlobs(memoryStore(), AT);
      for (const created of states) await known.record({ ...STATE, created });
      return known.nextTime(STATE.key, clock);
    };
    expect(await timeAfter([], now)).toBe(NINE);
    expect(await timeAfter([NINE, TEN], now)).toBe("2026-11-20T10:00:00.001Z");
    expect(await timeAfter(["2026-11-20t10:00:00+01:00"], now - 1)).toBe("2026-11-20T09:00:00.001Z");
    const precise = "2026-11-20T10:00:00.123456789Z";
    expect(isLater(await timeAfter([precise], now), precise)).toBe(true);
  });
});
