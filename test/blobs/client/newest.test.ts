import { describe, expect, it } from "vitest";
import { isLater, laterThan, newestStates } from "../../../plugin/blobs/client/newest.js";
import { memoryStore } from "../../../plugin/store/memory.js";

const AT = { origin: "https://alice.example", owner: "kex1alice" };
const NINE = "2026-11-20T09:00:00.000Z";
const TEN = "2026-11-20T10:00:00.000Z";
const STATE = { key: "A.b-c", created: NINE, sha256: "aa", isDeleted: false };

describe("the newest states", () => {
  it("keep the latest of each blob, whatever is seen after it", async () => {
    const newest = newestStates(memoryStore(), AT);
    expect(await newest.get("A.b-c")).toBeNull();
    await newest.remember(STATE);
    await newest.remember({ ...STATE, created: TEN, isDeleted: true });
    await newest.remember({ ...STATE, sha256: "bb" });
    await newest.remember({ ...STATE, created: TEN, sha256: "bb" });
    await newest.remember({ ...STATE, key: "a.B-C" });
    expect(await newest.get("A.b-c")).toEqual({ ...STATE, created: TEN, isDeleted: true });
    const { states, damaged } = await newest.list();
    expect([states.map(({ key }) => key).sort(), damaged]).toEqual([["A.b-c", "a.B-C"], []]);
  });

  it("are those that can be read; of the others it is said where they are, and they are not taken for nothing", async () => {
    const store = memoryStore();
    const newest = newestStates(store, AT);
    await newest.remember(STATE);
    const [place = ""] = await store.keys("newest/");
    await store.put(place, Buffer.from("junk"));
    await newest.remember({ ...STATE, key: "b" });
    const { states, damaged } = await newest.list();
    expect([states.map(({ key }) => key), damaged]).toEqual([["b"], [expect.stringContaining(place)]]);
    await expect(newest.get("A.b-c")).rejects.toMatchObject({ code: "store-failed" });
  });

  it("are those of one owner at one site", async () => {
    const store = memoryStore();
    await newestStates(store, AT).remember(STATE);
    expect(await newestStates(store, { ...AT, origin: "http://alice.example" }).get("A.b-c")).toBeNull();
    expect((await newestStates(store, { ...AT, owner: "kex1bob" }).list()).states).toEqual([]);
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

  it("is later than all that are known, also where the clock is behind", () => {
    const now = Date.parse(NINE);
    expect(laterThan([], now)).toBe(NINE);
    expect(laterThan([NINE, TEN], now)).toBe("2026-11-20T10:00:00.001Z");
    expect(laterThan(["2026-11-20t10:00:00+01:00"], now - 1)).toBe("2026-11-20T09:00:00.001Z");
    expect(isLater(laterThan(["2026-11-20T10:00:00.123456789Z"], now), "2026-11-20T10:00:00.123456789Z")).toBe(true);
  });
});
