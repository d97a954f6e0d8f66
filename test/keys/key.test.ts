import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { ed25519 } from "@noble/curves/ed25519.js";
import { bech32, bech32m } from "@scure/base";
import { describe, expect, it } from "vitest";
import { discoveryPaths } from "../../plugin/keys/address.js";
import { formatKey, isPublicKey, isWeakKey, parseKey, toExchangeKey } from "../../plugin/keys/key.js";

interface Vector {
  kex: string;
  kbx?: string;
  ed25519_public: string;
  x25519_public: string;
}
const { key_encoding: vectors } = JSON.parse(
  readFileSync(new URL("../vectors/signcryption.json", import.meta.url), "utf8"),
) as {
  key_encoding: Vector[];
};
const hex = (text: string) => new Uint8Array(Buffer.from(text, "hex"));
const alice = vectors[0]?.kex ?? "";
const badKey = expect.objectContaining({ code: "bad-key" });

describe("a public key as text", () => {
  it.each(vectors)("$kex", ({ kex, ed25519_public }) => {
    expect(parseKey(kex)).toEqual(hex(ed25519_public));
    expect(formatKey(hex(ed25519_public))).toBe(kex);
  });

  it.each([
    ["a key of the other kind", vectors[0]?.kbx ?? ""],
    ["a wrong checksum", `${alice.slice(0, -1)}q`],
    ["mixed case", alice.replace("k", "K")],
    ["a truncated key", alice.slice(0, -4)],
    ["bech32m", bech32m.encodeFromBytes("kex", parseKey(alice))],
    ["31 bytes", bech32.encodeFromBytes("kex", new Uint8Array(31).fill(1))],
    ["33 bytes", bech32.encodeFromBytes("kex", new Uint8Array(33).fill(1))],
    ["the neutral element", bech32.encodeFromBytes("kex", hex("01".padEnd(64, "0")))],
    [
      "a point of order 8",
      bech32.encodeFromBytes("kex", hex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")),
    ],
    [
      "a coordinate outside the field",
      bech32.encodeFromBytes("kex", hex("f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")),
    ],
    ["not a point of the curve", bech32.encodeFromBytes("kex", hex("02".padEnd(64, "0")))],
  ])("is refused: %s", (_name, text) => {
    expect(() => parseKey(text)).toThrow(badKey);
  });
});

describe("a public key as bytes", () => {
  it.each(vectors)("has an exchange key: $kex", ({ ed25519_public, x25519_public }) => {
    expect(isPublicKey(hex(ed25519_public))).toBe(true);
    expect(toExchangeKey(hex(ed25519_public))).toEqual(hex(x25519_public));
  });

  it.each([
    ["empty", new Uint8Array(0)],
    ["too short", new Uint8Array(31).fill(1)],
    ["too long", new Uint8Array(33).fill(1)],
    ["of small order", hex("01".padEnd(64, "0"))],
    ["outside the field", hex(`f0${"ff".repeat(30)}7f`)],
    ["not a point of the curve", hex("02".padEnd(64, "0"))],
    ["zero with the sign bit set", hex("01".padEnd(62, "0").concat("80"))],
  ])("is invalid: %s", (_name, bytes) => {
    expect(isPublicKey(bytes)).toBe(false);
    expect(toExchangeKey(bytes)).toBeNull();
  });
});

describe("random bytes", () => {
  it("are a key if they are a point of the curve, with the same exchange key as in another implementation", () => {
    for (let number = 0; number < 200; number += 1) {
      const bytes = new Uint8Array(createHash("sha256").update(`point ${number}`).digest());
      const isPoint = ed25519.utils.isValidPublicKey(bytes, false);
      expect(isPublicKey(bytes)).toBe(isPoint);
      expect(toExchangeKey(bytes)).toEqual(isPoint ? ed25519.utils.toMontgomery(bytes) : null);
    }
  });
});

describe("a weak key", () => {
  const { Point } = ed25519;
  const torsion = Point.fromBytes(hex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"));

  it("is one of the eight points of small order, with either sign, or has a y outside the field", () => {
    const points = Array.from({ length: 8 }, (_, index) => torsion.multiplyUnsafe(BigInt(index + 1)).toBytes());
    const beyond = Array.from({ length: 19 }, (_, index) => hex(`${(0xed + index).toString(16)}${"ff".repeat(30)}7f`));
    for (const bytes of [...points, ...beyond]) {
      expect(isWeakKey(bytes)).toBe(true);
      expect(isWeakKey(bytes.map((byte, index) => (index === 31 ? byte ^ 0x80 : byte)))).toBe(true);
    }
  });

  it("is not a key of the vectors or the second-largest y of the field", () => {
    const others = [...vectors.map(({ ed25519_public }) => hex(ed25519_public)), hex(`eb${"ff".repeat(30)}7f`)];
    expect(others.filter(isWeakKey)).toEqual([]);
  });
});

describe("the documents of an address", () => {
  it("are under both path segments, by plain and hashed name, in the order of the protocol", () => {
    // printf alice@alice.example | sha256sum
    const hashed = "df80c801a9d5d1a50e89e09c6aa19d1f69d8c4c00fb0436c9f7659ee5fd52243";
    expect(discoveryPaths("alice@alice.example")).toEqual([
      "/.well-known/msg/alice.json",
      `/.well-known/msg/${hashed}.json`,
      `/.well-known/salty/${hashed}.json`,
      "/.well-known/salty/alice.json",
    ]);
  });
});
