import { describe, expect, it } from "vitest";
import type { Found } from "../../../plugin/messages/lookup/lookup.js";
import { createSenderLookup } from "../../../plugin/messages/lookup/sender-lookup.js";
import { ALICE, BOB, foundFor, NOW, SECOND } from "../neighbourhood.js";

const failsWith = (code: string) => expect.objectContaining({ code });
const STRANGERS = Array.from({ length: 100 }, (_, number) => `x${number}@silent${number}.example`);

/** A lookup whose results the test supplies. */
function pendingLookups(patienceMs?: number) {
  const clock = { time: NOW };
  const requested: string[] = [];
  const waiting = new Map<string, (found: Found) => void>();
  const look = (address: string) => {
    requested.push(address);
    return new Promise<Found>((resolve) => waiting.set(address, resolve));
  };
  const lookup = createSenderLookup(look, { now: () => clock.time, ...(patienceMs !== undefined && { patienceMs }) });
  const resolveLookup = (address: string) => waiting.get(address)?.(foundFor(BOB, { address }));
  return { clock, requested, lookup, resolveLookup };
}

/** Starts looking up a hundred unknown senders whose hosts do not respond. */
function lookUpStrangers(patienceMs?: number) {
  const all = pendingLookups(patienceMs);
  const outcomes = STRANGERS.map((address) => all.lookup(address, false).then(String, ({ code }) => code));
  return { ...all, outcomes };
}

describe("a sender", () => {
  it("who is known is looked up immediately, even while many unknown ones are slow", async () => {
    const { lookup, requested, resolveLookup } = lookUpStrangers();
    expect(requested).toEqual(STRANGERS.slice(0, 24));
    const looking = lookup(BOB.address, true);
    expect(requested.slice(24)).toEqual([BOB.address]);
    resolveLookup(BOB.address);
    expect(await looking).toMatchObject({ key: BOB.kex });
    expect(requested).toHaveLength(25);
  });

  it("not-looked-up: waits for more than 30 seconds, and gets no request", async () => {
    const { clock, requested, resolveLookup, outcomes } = lookUpStrangers();
    clock.time += 30 * SECOND;
    resolveLookup("x0@silent0.example");
    await outcomes[0];
    expect(requested).toHaveLength(25);
    clock.time += 1;
    for (const address of requested.slice(1)) resolveLookup(address);
    const codes = await Promise.all(outcomes);
    expect(codes.filter((code) => code === "not-looked-up")).toHaveLength(75);
    expect(requested).toHaveLength(25);
  });

  it("may wait longer with `patienceMs`", async () => {
    const { clock, requested, resolveLookup, outcomes } = lookUpStrangers(Number.POSITIVE_INFINITY);
    clock.time += 1000_000 * SECOND;
    for (const [at, address] of STRANGERS.entries()) {
      resolveLookup(address);
      await outcomes[at];
    }
    expect(requested).toEqual(STRANGERS);
  });

  it("is looked up once for concurrent callers, and again later", async () => {
    const { lookup, requested, resolveLookup } = pendingLookups();
    for (const times of [1, 2]) {
      const both = [lookup(ALICE.address, false), lookup(ALICE.address, true)];
      resolveLookup(ALICE.address);
      expect(await Promise.all(both)).toMatchObject([{ address: ALICE.address }, { address: ALICE.address }]);
      expect(requested).toHaveLength(times);
    }
  });

  it("is looked up again after a failure", async () => {
    let isDown = true;
    const look = async () => {
      if (isDown) throw Object.assign(new Error("x"), { code: "unreachable" });
      return foundFor(BOB);
    };
    const lookup = createSenderLookup(look, { now: () => NOW });
    await expect(lookup(BOB.address, false)).rejects.toThrow(failsWith("unreachable"));
    isDown = false;
    expect(await lookup(BOB.address, false)).toMatchObject({ key: BOB.kex });
  });
});
