import { describe, expect, it } from "vitest";
import { Contacts } from "../../../plugin/messages/lookup/contacts.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { BOB, CAROL, foundFor, NOW } from "../neighbourhood.js";

const SINCE = "2026-11-20T09:00:00Z";
const LATER = "2026-11-20T10:00:00Z";

const failsWith = (code: string) => expect.objectContaining({ code });

function emptyContacts() {
  const store = faultyStore(memoryStore());
  const clock = { time: NOW };
  return { store, clock, contacts: new Contacts(store, () => clock.time) };
}

const bobs = foundFor(BOB);
const pinned = { address: BOB.address, key: BOB.kex, endpoint: bobs.endpoint, byDns: false, since: SINCE };
/** The document of Bob's host under a new owner. */
const newOwner = foundFor(BOB, { key: CAROL.kex, endpoint: "https://carol.example/inbox" });

describe("a key", () => {
  it("is pinned on first use", async () => {
    const { contacts, store } = emptyContacts();
    expect(await contacts.get(BOB.address)).toBeNull();
    expect(await contacts.pin(bobs)).toEqual(pinned);
    expect(await contacts.get(BOB.address)).toEqual(pinned);
    expect(await new Contacts(store, () => NOW).list()).toEqual([pinned]);
  });

  it("stays pinned if a later lookup finds another", async () => {
    const { contacts, clock } = emptyContacts();
    await contacts.pin(bobs);
    clock.time += 3600_000;
    expect(await contacts.pin(newOwner)).toEqual(pinned);
    expect(await contacts.pin({ ...newOwner, byDns: true })).toEqual(pinned);
    expect(await contacts.get(BOB.address)).toEqual(pinned);
  });

  it("stays the first of two that are pinned concurrently", async () => {
    const { contacts } = emptyContacts();
    const both = await Promise.all([contacts.pin(bobs), contacts.pin(newOwner)]);
    expect(both).toEqual([pinned, pinned]);
  });

  it("gets a new inbox, unless it was found only through DNS", async () => {
    const { contacts } = emptyContacts();
    await contacts.pin(bobs);
    const moved = { ...bobs, endpoint: "https://new.example/inbox" };
    expect(await contacts.pin({ ...moved, byDns: true })).toEqual(pinned);
    expect(await contacts.pin(moved)).toEqual({ ...pinned, endpoint: moved.endpoint });
  });

  it("is replaced if the author accepts a new one", async () => {
    const { contacts, clock } = emptyContacts();
    await contacts.pin(bobs);
    clock.time += 3600_000;
    const accepted = {
      ...pinned,
      key: CAROL.kex,
      endpoint: newOwner.endpoint,
      since: LATER,
      former: [{ key: BOB.kex, until: LATER }],
    };
    expect(await contacts.accept(newOwner)).toEqual(accepted);
    expect(await contacts.list()).toEqual([accepted]);
    expect(await contacts.accept(newOwner)).toEqual(accepted);
  });

  it("found through DNS is pinned on first use, and replaced by the domain's own key", async () => {
    const { contacts } = emptyContacts();
    expect(await contacts.pin({ ...bobs, byDns: true })).toEqual({ ...pinned, byDns: true });
    expect(await contacts.pin(bobs)).toEqual(pinned);
  });

  it("key-changed: found through DNS, replaces no pinned key, even if the author accepts it", async () => {
    const { contacts } = emptyContacts();
    await contacts.pin(bobs);
    await expect(contacts.accept({ ...newOwner, byDns: true })).rejects.toThrow(failsWith("key-changed"));
    expect(await contacts.list()).toEqual([pinned]);
    expect(await contacts.forget(BOB.address)).toBe(true);
    expect(await contacts.accept({ ...newOwner, byDns: true })).toMatchObject({ key: CAROL.kex, byDns: true });
  });

  it("can be removed once", async () => {
    const { contacts } = emptyContacts();
    await contacts.pin(bobs);
    await contacts.pin(foundFor(CAROL));
    expect(await contacts.forget(BOB.address)).toBe(true);
    expect(await contacts.forget(BOB.address)).toBe(false);
    expect((await contacts.list()).map(({ address }) => address)).toEqual([CAROL.address]);
  });

  it("store-failed: a failing store is not mistaken for an empty one", async () => {
    const { contacts, store } = emptyContacts();
    await contacts.pin(bobs);
    store.fail({ when: "before" });
    await expect(contacts.get(BOB.address)).rejects.toThrow(failsWith("store-failed"));
    await expect(contacts.pin(newOwner)).rejects.toThrow(failsWith("store-failed"));
    await expect(contacts.list()).rejects.toThrow(failsWith("store-failed"));
    store.repair();
    expect(await contacts.list()).toEqual([pinned]);
  });
});
