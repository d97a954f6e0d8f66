import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToNumberLE, numberToBytesLE } from "@noble/curves/utils.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { isPublicKey, type SecretKey } from "../../../plugin/keys/key.js";
import { noblePrimitives } from "../../../plugin/messages/saltpack/noble-primitives.js";
import { ALICE, BOB, backends, hex, openedByBob, sealed, utf8 } from "./vectors.js";

const { Point } = ed25519;
const { Fn } = Point;
type Point = InstanceType<typeof Point>;

const TEXT = utf8("hello");
/** A point of order 8. */
const TORSION = Point.fromBytes(hex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"));
const ORDER_BYTES = numberToBytesLE(Fn.ORDER, 32);

const challenge = (r: Uint8Array, a: Uint8Array, message: Uint8Array) =>
  Fn.create(bytesToNumberLE(sha512(concatBytes(r, a, message))));

/** Whether the signature is valid by the equation with the cofactor, which some libraries use. */
function isValidWithCofactor(signature: Uint8Array, message: Uint8Array, a: Uint8Array): boolean {
  const r = signature.subarray(0, 32);
  const s = Fn.create(bytesToNumberLE(signature.subarray(32)));
  const right = Point.fromBytes(r, true).add(Point.fromBytes(a, true).multiplyUnsafe(challenge(r, a, message)));
  return Point.BASE.multiplyUnsafe(s).subtract(right).isSmallOrder();
}

/** Signs with a component of small order in R or the key. `accept` selects challenges. */
function signWith(
  { seed, inR, inKey }: { seed: Uint8Array; inR?: Point; inKey?: Point },
  accept: (k: bigint) => boolean = () => true,
): SecretKey {
  const { scalar, point } = ed25519.utils.getExtendedPublicKey(seed);
  const publicKey = (inKey ? point.add(inKey) : point).toBytes();
  const sign = (message: Uint8Array) => {
    for (let nonce = 2n; ; nonce += 1n) {
      const honest = Point.BASE.multiplyUnsafe(nonce);
      const r = (inR ? honest.add(inR) : honest).toBytes();
      const k = challenge(r, publicKey, message);
      if (accept(k)) return concatBytes(r, numberToBytesLE(Fn.create(nonce + k * scalar), 32));
    }
  };
  return { publicKey, sign, agree: () => new Uint8Array(32) };
}

/** Forges signatures for a key of small order: a challenge that is a multiple of 8 needs no secret. */
function forgerOf(publicKey: Uint8Array): SecretKey {
  const sign = (message: Uint8Array) => {
    for (let s = 2n; ; s += 1n) {
      const r = Point.BASE.multiplyUnsafe(s).toBytes();
      if (challenge(r, publicKey, message) % 8n === 0n) return concatBytes(r, numberToBytesLE(s, 32));
    }
  };
  return { publicKey, sign, agree: () => new Uint8Array(32) };
}

/** All 8 points of small order in canonical form, and their other encodings. */
const SMALL = [
  ...Array.from({ length: 8 }, (_, times) => TORSION.multiplyUnsafe(BigInt(times)).toBytes()),
  hex("01".padEnd(62, "0").concat("80")),
  hex(`ec${"ff".repeat(31)}`),
  hex(`ee${"ff".repeat(30)}7f`),
  hex(`ee${"ff".repeat(31)}`),
  hex(`ed${"ff".repeat(30)}7f`),
  hex(`ed${"ff".repeat(31)}`),
].map((bytes) => Buffer.from(bytes).toString("hex"));

/** A point of large order, y = 3, in canonical form and as y = 3 + p. */
const CANONICAL = `03${"00".repeat(31)}`;
const BEYOND = `f0${"ff".repeat(30)}7f`;

describe.each(backends)("signatures on %s", (_name, primitives) => {
  const alice = primitives.secretKey(ALICE);
  const openFrom = (sender: SecretKey) => () => openedByBob(sealed(TEXT, primitives, { sender }), primitives);
  const refused = (why: RegExp) =>
    expect.objectContaining({ code: "not-authentic", message: expect.stringMatching(why) });

  it("are valid if made with the sender's key", () => {
    expect(openFrom(alice)()).toEqual({ plaintext: TEXT, sender: alice.publicKey });
    expect(openFrom(signWith({ seed: ALICE }))()).toEqual({ plaintext: TEXT, sender: alice.publicKey });
  });

  it("are refused if R has a component of small order", () => {
    const forger = signWith({ seed: ALICE, inR: TORSION });
    const signature = forger.sign(TEXT);
    expect(isValidWithCofactor(signature, TEXT, forger.publicKey)).toBe(true);
    expect(ed25519.verify(signature, TEXT, forger.publicKey, { zip215: false })).toBe(true);
    expect(primitives.verify(signature, TEXT, forger.publicKey)).toBe(false);
    expect(openFrom(forger)).toThrow(refused(/did not sign/));
  });

  it("are refused if R is of small order", () => {
    const { scalar } = ed25519.utils.getExtendedPublicKey(ALICE);
    for (const form of SMALL) {
      const r = hex(form);
      const signature = concatBytes(r, numberToBytesLE(Fn.create(challenge(r, alice.publicKey, TEXT) * scalar), 32));
      // The neutral element is the nonce 0, which is not a forgery. Older versions of OpenSSL accept it.
      const isNeutral = form === `01${"00".repeat(31)}`;
      const isOpen = isNeutral && primitives !== noblePrimitives;
      if (!isOpen) expect(primitives.verify(signature, TEXT, alice.publicKey), form).toBe(isNeutral);
    }
  });

  it("are refused with S + L in place of S, and with any other S above L", () => {
    const signature = primitives.secretKey(ALICE).sign(TEXT);
    const s = bytesToNumberLE(signature.subarray(32));
    for (let more = s + Fn.ORDER; more < 2n ** 256n; more += Fn.ORDER) {
      const malleated = concatBytes(signature.subarray(0, 32), numberToBytesLE(more, 32));
      expect(primitives.verify(malleated, TEXT, alice.publicKey)).toBe(false);
    }
    expect(primitives.verify(concatBytes(signature.subarray(0, 32), ORDER_BYTES), TEXT, alice.publicKey)).toBe(false);
    const sign = (bytes: Uint8Array) => {
      const honest = alice.sign(bytes);
      const larger = bytesToNumberLE(honest.subarray(32)) + Fn.ORDER;
      return concatBytes(honest.subarray(0, 32), numberToBytesLE(larger, 32));
    };
    expect(openFrom({ ...alice, sign })).toThrow(refused(/did not sign/));
  });

  it.each(SMALL)("are refused with a key of small order, for which anyone can sign: %s", (form) => {
    const forger = forgerOf(hex(form));
    expect(isPublicKey(forger.publicKey)).toBe(false);
    const zeros = `${"00".repeat(32)}`;
    expect(openFrom(forger)).toThrow(refused(form === zeros ? /anonymous/ : /key is invalid/));
  });

  it("are refused with a key that is not in canonical form", () => {
    expect(isPublicKey(hex(CANONICAL))).toBe(true);
    expect(Point.fromBytes(hex(BEYOND), true).isSmallOrder()).toBe(false);
    const sender = { ...alice, publicKey: hex(BEYOND) };
    expect(openFrom(sender)).toThrow(refused(/key is invalid/));
  });

  it("are refused with a key that is not a point of the curve", () => {
    const sender = { ...alice, publicKey: hex("02".padEnd(64, "0")) };
    expect(openFrom(sender)).toThrow(refused(/key is invalid/));
  });

  it("are valid with a key of mixed order if and only if they are valid without cofactor", () => {
    const seed = ALICE;
    const whole = signWith({ seed, inKey: TORSION }, (k) => k % 8n === 0n);
    expect(openFrom(whole)()).toEqual({ plaintext: TEXT, sender: whole.publicKey });
    const broken = signWith({ seed, inKey: TORSION }, (k) => k % 8n !== 0n);
    expect(isValidWithCofactor(broken.sign(TEXT), TEXT, broken.publicKey)).toBe(true);
    expect(openFrom(broken)).toThrow(refused(/did not sign/));
  });
});

/** X25519 public keys that make every shared secret zero, and their encodings above the prime. */
const LOW_ORDER = [
  "00".repeat(32),
  `01${"00".repeat(31)}`,
  "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
  "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
  `ec${"ff".repeat(30)}7f`,
  `ed${"ff".repeat(30)}7f`,
  `ee${"ff".repeat(30)}7f`,
  `00${"00".repeat(30)}80`,
  `ed${"ff".repeat(31)}`,
];

describe.each(backends)("key exchange on %s", (_name, primitives) => {
  it.each(LOW_ORDER)("is refused with an ephemeral key of small order: %s", (form) => {
    const zeros = () => new Uint8Array(32);
    const forger = { ...primitives, ephemeralKey: () => ({ publicKey: hex(form), agree: zeros }) };
    const message = sealed(TEXT, forger);
    expect(() => openedByBob(message, primitives)).toThrow(expect.objectContaining({ code: "bad-message" }));
    const badKey = expect.objectContaining({ code: "bad-key" });
    expect(() => primitives.secretKey(BOB).agree(hex(form))).toThrow(badKey);
    expect(() => primitives.ephemeralKey(ALICE).agree(hex(form))).toThrow(badKey);
  });

  it("gives both sides the same secret, with the seed's X25519 key", () => {
    const [alice, bob] = [primitives.secretKey(ALICE), primitives.secretKey(BOB)];
    // From the vectors: x25519_public for these seeds.
    const aliceExchange = hex("1b1b58dd50ea14b60da17b790cd02754d970c9bab864ebb3c0f3016fe51d3f57");
    const bobExchange = hex("60346e7c911a5f6ba154129174cafe75b294ac3bbd5549632f48cec6266f8410");
    expect([...alice.agree(bobExchange)]).toEqual([...bob.agree(aliceExchange)]);
    for (const [, other] of backends) {
      expect([...other.secretKey(ALICE).agree(bobExchange)]).toEqual([...alice.agree(bobExchange)]);
    }
  });
});

describe("a signature by a key of small order", () => {
  // OpenSSL accepts them too, except in its newest versions.
  it.each(SMALL.slice(0, 8))("would be valid without a check of the key: %s", (form) => {
    const forger = forgerOf(hex(form));
    expect(noblePrimitives.verify(forger.sign(TEXT), TEXT, forger.publicKey)).toBe(true);
  });
});
