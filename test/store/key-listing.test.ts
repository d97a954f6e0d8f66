import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createListings, KeyListing } from "../../plugin/store/key-listing.js";
import { memoryStore } from "../../plugin/store/memory.js";
import { faultyStore } from "../helpers/faulty-store.js";

const NOTHING = new Uint8Array();

/** A listing of keys such as `a/<copy>-<group>-<size>`, with a clock that the test sets. */
async function listingOf(...keys: string[]) {
  const store = faultyStore(memoryStore());
  for (const key of keys) await store.put(key, NOTHING);
  const clock = { time: 1_000_000 };
  const parse = (key: string) => {
    const [, group, size] = /^a\/\d+-(\w+)-(\d+)$/.exec(key) ?? [];
    return group === undefined ? null : { group, size: Number(size) };
  };
  const listing = new KeyListing({ store, prefix: "a/", parse, now: () => clock.time });
  const recent = async () => {
    await listing.refresh();
    return countsOf(listing);
  };
  return { store, clock, listing, recent };
}

function countsOf({ count, bytes }: KeyListing) {
  return { count, bytes };
}

describe("a key listing", () => {
  it("counts the groups of the keys under its prefix, each with its largest key", async () => {
    const { recent, listing } = await listingOf("a/1-x-10", "a/2-x-30", "a/1-y-5", "a/other", "b/1-z-7");
    expect(await recent()).toEqual({ count: 2, bytes: 35 });
    expect(listing.group("x")).toMatchObject({ sum: 40, largest: 30 });
    expect([...listing.group("y").sizes]).toEqual([["a/1-y-5", 5]]);
    expect([listing.has("y"), listing.has("z"), listing.group("z").sizes.size]).toEqual([true, false, 0]);
  });

  it("shows changes by other processes after two seconds, without a request to the store until then", async () => {
    const { store, clock, recent } = await listingOf("a/1-x-1", "a/1-y-2");
    await recent();
    await store.delete("a/1-x-1");
    await store.put("a/1-z-4", NOTHING);
    store.fail({ when: "before", operation: "keys" });
    clock.time += 2000;
    expect(await recent()).toEqual({ count: 2, bytes: 3 });
    store.repair();
    clock.time += 1;
    expect(await recent()).toEqual({ count: 2, bytes: 6 });
  });

  it("is listed again after the clock was set back", async () => {
    const { store, clock, recent } = await listingOf("a/1-x-1");
    await recent();
    await store.put("a/1-y-2", NOTHING);
    clock.time -= 3600_000;
    expect(await recent()).toEqual({ count: 2, bytes: 3 });
  });

  it("shows changes of its own process at once", async () => {
    const { listing, recent } = await listingOf("a/1-x-1");
    await recent();
    listing.add("a/1-y-2");
    listing.add("a/other");
    listing.delete("a/1-x-1");
    expect(await recent()).toEqual({ count: 1, bytes: 2 });
  });

  it("keeps changes of its own process that happen during a listing", async () => {
    const { store, listing, recent } = await listingOf("a/1-x-1", "a/1-y-2");
    const first = recent();
    await store.put("a/1-z-4", NOTHING);
    listing.add("a/1-z-4");
    await store.delete("a/1-x-1");
    listing.delete("a/1-x-1");
    expect(await first).toEqual({ count: 2, bytes: 6 });
    expect(await recent()).toEqual({ count: 2, bytes: 6 });
  });

  it("lists again on request, even during a listing that misses a change", async () => {
    const { store, listing, recent } = await listingOf("a/1-x-1");
    const first = recent();
    await store.put("a/1-y-2", NOTHING);
    await listing.relist();
    await first;
    expect(countsOf(listing)).toEqual({ count: 2, bytes: 3 });
  });

  it("fails if the store fails, and lists again at the next request", async () => {
    const { store, recent } = await listingOf("a/1-x-1");
    store.fail({ when: "before", operation: "keys", times: 1 });
    await expect(recent()).rejects.toMatchObject({ code: "store-failed" });
    expect(await recent()).toEqual({ count: 1, bytes: 1 });
  });

  it("has the same totals as a new listing after any changes", async () => {
    const key = fc.tuple(fc.nat(3), fc.constantFrom("x", "y", "z"), fc.nat(9)).map((parts) => `a/${parts.join("-")}`);
    const changes = fc.array(fc.record({ key, isAdded: fc.boolean() }), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(changes, async (all) => {
        const { listing } = await listingOf();
        const keys = new Set<string>();
        for (const { key: changed, isAdded } of all) {
          if (isAdded) keys.add(changed);
          else keys.delete(changed);
          listing[isAdded ? "add" : "delete"](changed);
        }
        const { listing: recounted, recent } = await listingOf(...keys);
        expect(countsOf(listing)).toEqual(await recent());
        for (const group of ["x", "y", "z"]) expect(listing.group(group)).toEqual(recounted.group(group));
      }),
      { numRuns: 200 },
    );
  });
});

describe("a reservation", () => {
  const LIMITS = { count: 2, bytes: 10 };

  it("counts until it ends: a group counts its largest key or the sum of its reservations, whichever is larger", async () => {
    const { listing, recent } = await listingOf("a/1-x-6");
    await recent();
    const end = await listing.reserve({ group: "x", size: 6 }, LIMITS);
    if (typeof end === "string") throw new Error(end);
    expect(await listing.reserve({ group: "x", size: 5 }, LIMITS)).toBe("bytes");
    expect(await listing.reserve({ group: "y", size: 5 }, LIMITS)).toBe("bytes");
    expect(await listing.reserve({ group: "y", size: 4 }, LIMITS)).toBeInstanceOf(Function);
    expect(await listing.reserve({ group: "z", size: 0 }, LIMITS)).toBe("count");
    end();
    expect(await listing.reserve({ group: "x", size: 5 }, LIMITS)).toBeInstanceOf(Function);
  });

  it("always fits into the space that its group already has", async () => {
    const { listing, recent } = await listingOf("a/1-x-20", "a/1-y-1", "a/1-z-1");
    await recent();
    expect(await listing.reserve({ group: "x", size: 21 }, LIMITS)).toBe("bytes");
    expect(await listing.reserve({ group: "x", size: 20 }, LIMITS)).toBeInstanceOf(Function);
  });

  it("uses space that another process has freed", async () => {
    const { store, listing, recent } = await listingOf("a/1-x-1", "a/1-y-2");
    await recent();
    await store.delete("a/1-x-1");
    expect(await listing.reserve({ group: "z", size: 1 }, LIMITS)).toBeInstanceOf(Function);
  });
});

it("the 1,000 most recently used listings stay in memory", () => {
  const listingOf = createListings((name) => ({ store: memoryStore(), now: () => 0, prefix: name, parse: () => null }));
  const [first, second] = [listingOf("first"), listingOf("second")];
  for (let n = 0; n < 998; n += 1) listingOf(`guest ${n}`);
  expect(listingOf("first")).toBe(first);
  listingOf("another");
  expect(listingOf("first")).toBe(first);
  expect(listingOf("second")).not.toBe(second);
});
