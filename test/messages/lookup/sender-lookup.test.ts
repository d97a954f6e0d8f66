import { describe, expect, it } from "vitest";
import type { Found } from "../../../plugin/messages/lookup/lookup.js";
import { createSenderLookup } from "../../../plugin/messages/lookup/sender-lookup.js";
import { ALICE, BOB, foundFor, NOW, SECOND } from "../neighbourhood.js";

const failsWith = (code: string) => expect.objectContaining({ code });
const STRANGERS = Array.from({ length: 100 }, (_, number) => `x${number}@silent${number}.example`);

/** Hosts that answer when a test tells them to. */
function patience(patienceMs?: number) {
  const clock = { time: NOW };
  const asked: string[] = [];
  const waiting = new Map<string, (found: Found) => void>();
  const look = (address: string) => {
    asked.push(address);
    return new Promise<Found>((resolve) => waiting.set(address, resolve));
  };
  const lookup = createSenderLookup(look, { now: () => clock.time, ...(patienceMs !== undefined && { patienceMs }) });
  const answer = (address: string) => waiting.get(address)?.(foundFor(BOB, { address }));
  return { clock, asked, lookup, answer };
}

/** Starts to look up a hundred unknown senders whose hosts do not answer. */
function flooded(patienceMs?: number) {
  const all = patience(patienceMs);
  const outcomes = STRANGERS.map((address) => all.lookup(address, false).then(String, ({ code }) => code));
  return { ...all, outcomes };
}

describe("a sender", () => {
  it("who is known is looked up at once, even if many unknown ones do not answer", async () => {
    const { lookup, asked, answer } = flooded();
    expect(asked).toEqual(STRANGERS.slice(0, 24));
    const looking = lookup(BOB.address, true);
    expect(asked.slice(24)).toEqual([BOB.address]);
    answer(BOB.address);
    expect(await looking).toMatchObject({ key: BOB.kex });
    expect(asked).toHaveLength(25);
  });

  it("not-looked-up: after waiting for more than 30 seconds, without a request", async () => {
    const { clock, asked, answer, outcomes } = flooded();
    clock.time += 30 * SECOND;
    answer("x0@silent0.example");
    await outcomes[0];
    expect(asked).toHaveLength(25);
    clock.time += 1;
    for (const address of asked.slice(1)) answer(address);
    const codes = await Promise.all(outcomes);
    expect(codes.filter((code) => code === "not-looked-up")).toHaveLength(75);
    expect(asked).toHaveLength(25);
  });

  it("may wait longer with `patienceMs`", async () => {
    const { clock, asked, answer, outcomes } = flooded(Number.POSITIVE_INFINITY);
    clock.time += 1000_000 * SECOND;
    for (const [at, address] of STRANGERS.entries()) {
      answer(address);
      await outcomes[at];
    }
    expect(asked).toEqual(STRANGERS);
  });

  it("is looked up once for concurrent callers, and again later", async () => {
    const { lookup, asked, answer } = patience();
    for (const times of [1, 2]) {
      const both = [lookup(ALICE.address, false), lookup(ALICE.address, true)];
      answer(ALICE.address);
      expect(await Promise.all(both)).toMatchObject([{ address: ALICE.address }, { address: ALICE.address }]);
      expect(asked).toHaveLength(times);
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
