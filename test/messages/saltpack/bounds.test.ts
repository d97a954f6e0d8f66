import { concatBytes } from "@noble/hashes/utils.js";
import { afterEach, describe, expect, it, vi } from "vitest";
import { TwtxtError } from "../../../plugin/errors.js";
import type { SecretKey } from "../../../plugin/keys/key.js";
import { arrayHead, binHead } from "../../../plugin/messages/saltpack/msgpack.js";
import { Saltpack } from "../../../plugin/messages/saltpack/saltpack.js";
import { openBinary } from "../../../plugin/messages/saltpack/signcryption.js";
import { sealedBytes } from "../../../plugin/messages/sealed-bytes.js";
import { recordArrays } from "./arrays.js";
import { BOB, backends, hex, openedByBob, sealed, utf8 } from "./vectors.js";

const LIMIT = 65_536;

const bin = (bytes: Uint8Array) => concatBytes(binHead(bytes.length), bytes);
const bytesOf = (count: number) => new Uint8Array(count).fill(9);
/** `["saltpack", [2, 0], 3, ephemeral key, sender box,` and other items. */
const header = (...rest: Uint8Array[]) =>
  bin(concatBytes(hex("96a873616c747061636b92020003"), bin(bytesOf(32)), bin(bytesOf(48)), ...rest));
const bogus = (count: number) =>
  Array.from({ length: count }, () => concatBytes(arrayHead(2), bin(bytesOf(32)), bin(bytesOf(48))));
const packet = (size: number, isFinal: boolean) =>
  concatBytes(arrayHead(2), bin(bytesOf(size)), hex(isFinal ? "c3" : "c2"));
const billion = hex("dd3b9aca00");
const recipients = (count: number) => [arrayHead(count), ...bogus(count)];

/** Hostile messages, and the number of key exchanges that each may cause. */
const HOSTILE: [string, Uint8Array, number][] = [
  ["64 recipients without the reader", concatBytes(header(...recipients(64)), packet(81, true)), 1],
  ["65 recipients", concatBytes(header(...recipients(65)), packet(81, true)), 0],
  ["as many recipients as possible", concatBytes(header(...recipients(700)), packet(81, true)), 0],
  ["a claim of a billion recipients", concatBytes(header(billion, ...bogus(2)), packet(81, true)), 0],
  ["a claim of a billion elements in the header", concatBytes(bin(concatBytes(billion, bytesOf(60_000)))), 0],
  ["a claim of a header of four gigabytes", concatBytes(hex("c6ffffffff"), bytesOf(60_000)), 0],
  [
    "a claim of a packet of four gigabytes",
    concatBytes(header(...recipients(1)), hex("92c6ffffffff"), bytesOf(60_000)),
    0,
  ],
  ["a chunk larger than 1 MiB", concatBytes(header(...recipients(1)), packet(2 ** 20 + 81, true)), 0],
  [
    "as many packets as possible",
    concatBytes(header(...recipients(1)), ...Array(700).fill(packet(81, false)), packet(81, true)),
    1,
  ],
  ["no final packet", concatBytes(header(...recipients(1)), ...Array(700).fill(packet(81, false))), 0],
  [
    "lists nested to maximum depth, after the recipients",
    bin(
      concatBytes(
        hex("97a873616c747061636b92020003"),
        bin(bytesOf(32)),
        bin(bytesOf(48)),
        ...recipients(1),
        new Uint8Array(60_000).fill(0x91),
      ),
    ),
    0,
  ],
  ["lists nested to maximum depth", new Uint8Array(LIMIT).fill(0x91), 0],
  ["maps with as many entries as possible", concatBytes(hex("96"), new Uint8Array(LIMIT).fill(0xdf)), 0],
  ["zeros", new Uint8Array(LIMIT), 0],
  ["a format name of maximum length", bin(concatBytes(hex("96da"), hex("ea60"), new Uint8Array(60_000).fill(0x61))), 0],
];

/** A key that counts its key exchanges. */
function countExchanges(key: SecretKey): { key: SecretKey; exchangeCount(): number } {
  let count = 0;
  const agree = (other: Uint8Array) => {
    count += 1;
    return key.agree(other);
  };
  return { key: { ...key, agree }, exchangeCount: () => count };
}

const sizeOf = (arrays: Uint8Array[]) => arrays.reduce((sum, { length }) => sum + length, 0);

afterEach(() => {
  vi.unstubAllGlobals();
});

describe.each(backends)("the cost of a message on %s", (_name, primitives) => {
  it.each(HOSTILE)(
    "is at most one key exchange and memory of a small multiple of its size: %s",
    (_what, message, exchanges) => {
      const { key, exchangeCount } = countExchanges(primitives.secretKey(BOB));
      const allocated = recordArrays();
      expect(() => openBinary(message, key, primitives)).toThrow(TwtxtError);
      expect(exchangeCount()).toBe(exchanges);
      expect(sizeOf(allocated)).toBeLessThan(4 * message.length + 32_768);
    },
  );

  it("is one key exchange and memory of about three times its size if it opens", () => {
    const message = sealed(new Uint8Array(LIMIT), primitives);
    const { key, exchangeCount } = countExchanges(primitives.secretKey(BOB));
    const allocated = recordArrays();
    expect(openBinary(message, key, primitives).plaintext).toHaveLength(LIMIT);
    expect(exchangeCount()).toBe(1);
    expect(sizeOf(allocated)).toBeGreaterThan(2 * LIMIT);
    expect(sizeOf(allocated)).toBeLessThan(3 * message.length + 8192);
  });

  it("is one key exchange if the reader is the last of 64 recipients", () => {
    const others = Array.from({ length: 63 }, (_, index) => primitives.secretKey(new Uint8Array(32).fill(100 + index)));
    const { key, exchangeCount } = countExchanges(primitives.secretKey(BOB));
    const message = sealed(utf8("hello"), primitives, {
      recipients: [...others, key].map(({ publicKey }) => publicKey),
    });
    expect(openBinary(message, key, primitives).plaintext).toEqual(utf8("hello"));
    expect(exchangeCount()).toBe(1);
  });

  it("is no key exchange if it is invalid", () => {
    const { key, exchangeCount } = countExchanges(primitives.secretKey(BOB));
    const saltpack = new Saltpack(primitives, () => new Uint8Array(0));
    for (const body of [new Uint8Array(0), utf8("hello"), "", "BEGIN SALTPACK ENCRYPTED MESSAGE. zz. END SALTPACK"]) {
      expect(() => saltpack.open(body, { key })).toThrow(TwtxtError);
    }
    expect(exchangeCount()).toBe(0);
  });
});

describe("the check without a key", () => {
  it.each(HOSTILE)("allocates a small multiple of the message's size: %s", (_what, message, exchanges) => {
    const allocated = recordArrays();
    if (exchanges === 1) expect(sealedBytes(message)).toBe(message);
    else expect(() => sealedBytes(message)).toThrow(TwtxtError);
    expect(sizeOf(allocated)).toBeLessThanOrEqual(message.length);
  });
});

describe("the size of a message", () => {
  const [, primitives] = backends[0] ?? [];
  if (!primitives) throw new Error("no primitives");

  it.each([
    [2 ** 20 - 1, 1],
    [2 ** 20, 1],
    [2 ** 20 + 1, 2],
    [2 ** 21, 2],
  ])("%i bytes in %i packets", (size, packets) => {
    const message = sealed(new Uint8Array(size), primitives);
    expect(message.length).toBe(size + sizeOfRest(packets, size));
    expect(openedByBob(message, primitives).plaintext).toHaveLength(size);
  });

  /** The header has 186 bytes and each packet 87 more; a packet of one byte has a length field three bytes shorter. */
  function sizeOfRest(packets: number, size: number): number {
    return 186 + packets * 87 - (size % 2 ** 20 === 1 ? 3 : 0);
  }
});
