import { describe, expect, it } from "vitest";
import { KeyListing } from "../../plugin/store/key-listing.js";
import { memoryStore } from "../../plugin/store/memory.js";
import { faultyStore } from "../helpers/faulty-store.js";

const NOTHING = new Uint8Array();

/** A listing of `a/`, whose numbers it parses, at a time that a test sets. */
async function listingOf(...keys: string[]) {
  const store = faultyStore(memoryStore());
  for (const key of keys) await store.put(key, NOTHING);
  const clock = { time: 1_000_000 };
  const parse = (key: string) => (/\d/.test(key) ? Number(key.slice(2)) : null);
  const listing = new KeyListing({ store, prefix: "a/", parse, now: () => clock.time });
  const recent = async () => {
    await listing.refresh();
    return listing.entries().sort();
  };
  return { store, clock, listing, recent };
}

describe("a key listing", () => {
  it("has what its keys say, of the keys that say something", async () => {
    const { recent } = await listingOf("a/1", "a/2", "a/other", "b/3");
    expect(await recent()).toEqual([1, 2]);
  });

  it("shows changes by other processes after two seconds, without a request to the store until then", async () => {
    const { store, clock, recent } = await listingOf("a/1", "a/2");
    await recent();
    await store.delete("a/1");
    await store.put("a/3", NOTHING);
    store.fail({ when: "before", operation: "keys" });
    clock.time += 2000;
    expect(await recent()).toEqual([1, 2]);
    store.repair();
    clock.time += 1;
    expect(await recent()).toEqual([2, 3]);
  });

  it("is listed again after the clock was set back", async () => {
    const { store, clock, recent } = await listingOf("a/1");
    await recent();
    await store.put("a/2", NOTHING);
    clock.time -= 3600_000;
    expect(await recent()).toEqual([1, 2]);
  });

  it("shows changes of its own process at once", async () => {
    const { listing, recent } = await listingOf("a/1");
    await recent();
    listing.add("a/2");
    listing.add("a/other");
    listing.delete("a/1");
    expect(await recent()).toEqual([2]);
  });

  it("loses no change of its own process to a listing that has begun before", async () => {
    const { store, listing, recent } = await listingOf("a/1", "a/2");
    const first = recent();
    await store.put("a/3", NOTHING);
    listing.add("a/3");
    await store.delete("a/1");
    listing.delete("a/1");
    expect(await first).toEqual([2, 3]);
    expect(await recent()).toEqual([2, 3]);
  });

  it("fails where the store does, and lists again at the next request", async () => {
    const { store, recent } = await listingOf("a/1");
    store.fail({ when: "before", operation: "keys", times: 1 });
    await expect(recent()).rejects.toMatchObject({ code: "store-failed" });
    expect(await recent()).toEqual([1]);
  });
});
