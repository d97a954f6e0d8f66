import { randomBytes } from "node:crypto";
import { Point } from "@noble/ed25519";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { SecretKey } from "../../../plugin/keys/key.js";
import * as browser from "../../../plugin/messages/browser.js";
import * as node from "../../../plugin/messages/index.js";
import type { Primitives } from "../../../plugin/messages/saltpack/primitives.js";
import { Saltpack } from "../../../plugin/messages/saltpack/saltpack.js";
import { readSealed } from "../../../plugin/messages/saltpack/sealed.js";
import { openBinary } from "../../../plugin/messages/saltpack/signcryption.js";
import { nodePrimitives } from "../../../plugin/messages/sealing.js";
import { recordArrays } from "./arrays.js";
import { ALICE, BOB, backends, hex, sealed, utf8 } from "./vectors.js";

const TEXT = utf8("2026-01-02T03:04:05Z\t(alice@alice.example)\thello\n");
const SMALL_ORDER = hex("01".padEnd(64, "0"));
const code = (expected: string) => expect.objectContaining({ code: expected });

/** A key pair of 64 bytes: the seed, then the public key. */
function pairOf(seed: Uint8Array, { secretKey }: Primitives): Uint8Array {
  return Uint8Array.of(...seed, ...secretKey(seed).publicKey);
}

describe.each(backends)("sealing and opening on %s", (_name, primitives) => {
  const saltpack = new Saltpack(primitives, randomBytes);
  const [alice, bob] = [pairOf(ALICE, primitives), pairOf(BOB, primitives)];
  const bobPublic = bob.subarray(32);
  const opened = { plaintext: TEXT, sender: alice.subarray(32) };

  it("returns the plaintext and its sender", () => {
    const message = saltpack.seal(TEXT, { sender: alice, recipients: [bobPublic] });
    expect(message).toBeInstanceOf(Uint8Array);
    expect(saltpack.open(message, { key: bob })).toEqual(opened);
  });

  it("returns text with `armor`, which opens as text and as bytes", () => {
    const message = saltpack.seal(TEXT, { sender: alice, recipients: [bobPublic], armor: true });
    expect(message).toMatch(/^BEGIN SALTPACK ENCRYPTED MESSAGE\. /);
    expect(saltpack.open(message, { key: bob })).toEqual(opened);
    expect(saltpack.open(utf8(message), { key: bob })).toEqual(opened);
  });

  it("accepts a prepared key, which no longer depends on the pair", () => {
    const pair = new Uint8Array(alice);
    const prepared = saltpack.secretKey(pair);
    pair.fill(0);
    expect(prepared.publicKey).toEqual(alice.subarray(32));
    const message = saltpack.seal(TEXT, { sender: prepared, recipients: [prepared.publicKey] });
    expect(saltpack.open(message, { key: prepared })).toEqual(opened);
  });

  it("seals the same text to different bytes each time", () => {
    const [one, other] = [1, 2].map(() => readSealed(saltpack.seal(TEXT, { sender: alice, recipients: [bobPublic] })));
    expect(one?.ephemeralKey).not.toEqual(other?.ephemeralKey);
    expect(one?.senderBox).not.toEqual(other?.senderBox);
  });

  it("lists a repeated recipient once", () => {
    const message = saltpack.seal(TEXT, {
      sender: alice,
      recipients: [bobPublic, alice.subarray(32), new Uint8Array(bobPublic)],
    });
    expect(readSealed(message).recipients).toHaveLength(2);
    for (const key of [alice, bob]) expect(saltpack.open(message, { key })).toEqual(opened);
  });

  it("seals to 1 to 64 recipients, but not to 0 or 65", () => {
    const keys = Array.from({ length: 65 }, (_, index) => primitives.secretKey(new Uint8Array(32).fill(100 + index)));
    const recipients = keys.map(({ publicKey }) => publicKey);
    const message = saltpack.seal(TEXT, { sender: alice, recipients: recipients.slice(0, 64) });
    for (const key of [0, 1, 31, 63].map((at) => keys[at] as SecretKey))
      expect(saltpack.open(message, { key })).toEqual(opened);
    expect(() => saltpack.open(message, { key: keys[64] as SecretKey })).toThrow(code("not-a-recipient"));
    for (const wrong of [[], recipients]) {
      expect(() => saltpack.seal(TEXT, { sender: alice, recipients: wrong })).toThrow(code("bad-message"));
    }
  });

  it("lists the recipients in random order", () => {
    const keys = [ALICE, BOB].map((seed) => primitives.secretKey(seed));
    const recipients = keys.map(({ publicKey }) => publicKey);
    const placeOfBob = (toss: number) => {
      const random = (count: number) => new Uint8Array(count).fill(count === 1 ? toss : 7);
      const message = new Saltpack(primitives, random).seal(TEXT, { sender: alice, recipients });
      const ordered = (order: Uint8Array[]) =>
        sealed(TEXT, primitives, { recipients: order, random }).join() === message.join();
      return ordered(recipients) ? 1 : ordered([...recipients].reverse()) ? 0 : -1;
    };
    expect(placeOfBob(0)).toBe(1);
    expect(placeOfBob(1)).toBe(0);
  });

  it.each([
    ["of small order", SMALL_ORDER],
    ["not a point of the curve", hex("02".padEnd(64, "0"))],
    ["outside the field", hex(`f0${"ff".repeat(30)}7f`)],
    ["too short", new Uint8Array(31)],
    ["64 bytes", new Uint8Array(64).fill(1)],
  ])("refuses a recipient's key: %s", (_what, key) => {
    expect(() => saltpack.seal(TEXT, { sender: alice, recipients: [bobPublic, key] })).toThrow(code("bad-key"));
  });

  it("refuses a secret key with a wrong public key or length", () => {
    const mixed = Uint8Array.of(...ALICE, ...bobPublic);
    for (const wrong of [mixed, ALICE, new Uint8Array(0), new Uint8Array(65)]) {
      expect(() => saltpack.secretKey(wrong)).toThrow(code("bad-key"));
      expect(() => saltpack.seal(TEXT, { sender: wrong, recipients: [bobPublic] })).toThrow(code("bad-key"));
    }
    const message = saltpack.seal(TEXT, { sender: alice, recipients: [bobPublic] });
    expect(() => saltpack.open(message, { key: mixed })).toThrow(code("bad-key"));
  });

  it("wipes its random bytes and shared secrets", () => {
    const secrets: Uint8Array[] = [];
    const keep = (bytes: Uint8Array) => {
      secrets.push(bytes);
      return bytes;
    };
    const random = (count: number) => keep(new Uint8Array(count).fill(count === 32 ? 5 : 0));
    const watched: Primitives = {
      ...primitives,
      ephemeralKey: (secret) => {
        const key = primitives.ephemeralKey(secret);
        return { ...key, agree: (other) => keep(key.agree(other)) };
      },
    };
    const message = new Saltpack(watched, random).seal(TEXT, { sender: alice, recipients: [bobPublic] });
    const key = primitives.secretKey(BOB);
    const watchedKey = { ...key, agree: (other: Uint8Array) => keep(key.agree(other)) };
    expect(openBinary(message, watchedKey, primitives)).toEqual(opened);
    expect(secrets.filter(({ length }) => length === 32)).toHaveLength(4);
    expect(secrets.map((bytes) => bytes.every((byte) => byte === 0))).not.toContain(false);
  });
});

describe("a recipient's key", () => {
  const saltpack = new Saltpack(nodePrimitives, randomBytes);
  const sender = nodePrimitives.secretKey(ALICE);
  const keys = Array.from({ length: 101 }, (_, index) =>
    nodePrimitives.secretKey(new Uint8Array(32).fill(100 + index)),
  );
  const sealTo = ({ publicKey }: SecretKey) => saltpack.seal(TEXT, { sender, recipients: [publicKey] });
  const [first, ...others] = keys as [SecretKey, ...SecretKey[]];

  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("is converted once, until 100 other keys have been used", () => {
    const converted = vi.spyOn(Point, "fromBytes");
    for (let times = 0; times < 3; times += 1) sealTo(first);
    expect(converted).toHaveBeenCalledTimes(1);
    for (const key of others.slice(0, 99)) sealTo(key);
    sealTo(first);
    expect(converted).toHaveBeenCalledTimes(100);

    for (const key of others) sealTo(key);
    const message = sealTo(first);
    expect(converted).toHaveBeenCalledTimes(102);
    expect(saltpack.open(message, { key: first }).plaintext).toEqual(TEXT);
  });

  it("is converted again if the caller changed its bytes", () => {
    // Converted keys are cached for the whole process, so each test uses its own.
    const key = nodePrimitives.secretKey(new Uint8Array(32).fill(99));
    const publicKey = new Uint8Array(key.publicKey);
    saltpack.seal(TEXT, { sender, recipients: [publicKey] });
    publicKey.set(sender.publicKey);
    const message = saltpack.seal(TEXT, { sender, recipients: [publicKey] });
    expect(saltpack.open(message, { key: sender }).plaintext).toEqual(TEXT);
    expect(() => saltpack.open(message, { key })).toThrow(code("not-a-recipient"));
  });
});

describe.each(backends)("after sealing and opening on %s", (_name, primitives) => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it("no array created by the library contains the payload key", () => {
    const payloadKey = randomBytes(32);
    const left = [new Uint8Array(payloadKey), new Uint8Array(32).fill(4)];
    const random = () => left.shift() ?? new Uint8Array(32);
    const arrays = recordArrays();
    const message = sealed(TEXT, primitives, { random });
    expect(openBinary(message, primitives.secretKey(BOB), primitives).plaintext).toEqual(TEXT);
    expect(arrays.length).toBeGreaterThan(20);
    expect(arrays.filter((array) => Buffer.from(array).includes(payloadKey))).toEqual([]);
  });
});

describe("the API for browsers", () => {
  it("has the exports of the API for Node.js, except lookup", () => {
    expect([...Object.keys(browser), "lookup"].sort()).toEqual(Object.keys(node).sort());
  });

  it("opens messages from Node.js, and Node.js opens its messages", () => {
    const key = (seed: Uint8Array) => pairOf(seed, nodePrimitives);
    const recipients = [key(BOB).subarray(32)];
    for (const [here, there] of [
      [node, browser],
      [browser, node],
    ] as const) {
      const message = here.seal(TEXT, { sender: key(ALICE), recipients, armor: true });
      expect(there.open(message, { key: key(BOB) })).toEqual({ plaintext: TEXT, sender: key(ALICE).subarray(32) });
    }
  });
});
