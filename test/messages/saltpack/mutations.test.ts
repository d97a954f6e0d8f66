import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TwtxtError } from "../../../plugin/errors.js";
import { armor, dearmor } from "../../../plugin/messages/saltpack/armor.js";
import type { Primitives } from "../../../plugin/messages/saltpack/primitives.js";
import { readSealed } from "../../../plugin/messages/saltpack/sealed.js";
import { openBinary } from "../../../plugin/messages/saltpack/signcryption.js";
import { runs } from "../../helpers/runs.js";
import { BOB, backends, hex, openedByBob, sealed, surgeries, utf8 } from "./vectors.js";

/** Number of mutations in a run. */
const MUTATIONS = Number(process.env.MUTATIONS ?? 4000);
/** Fewer with noble, which is much slower and shares the code. */
const SHARE_OF_NOBLE = 10;
/** A fixed seed, for the same cases in each run. */
const SEED = 1;

const [, node] = backends[0] ?? [];
if (!node) throw new Error("no primitives");
const manyPackets = surgeries.find(({ name }) => name === "short-chunks")?.ciphertext_hex ?? "";
const recipients = [BOB, BOB.map((byte) => byte + 1), BOB.map((byte) => byte + 2)];
const publicKeys = recipients.map((seed) => node.secretKey(seed).publicKey);

/** Bob can open all of them. */
const MESSAGES = [
  sealed(utf8("hello"), node),
  sealed(new Uint8Array(0), node),
  sealed(utf8("hello ".repeat(500)), node, { recipients: publicKeys }),
  hex(manyPackets),
];
const packetsOf = MESSAGES.map((bytes) => partsOf(bytes));

/** The bytes of a message's header and packets. */
function partsOf(bytes: Uint8Array): Uint8Array[] {
  const { header, packets } = readSealed(bytes);
  const headerEnd = header.byteOffset + header.length;
  // The flag is the byte after the box.
  const ends = [headerEnd, ...packets.map(({ box }) => box.byteOffset + box.length + 1)];
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const join = (parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

/** A message and its parts. */
const message = fc.nat(MESSAGES.length - 1).map((index) => ({
  bytes: MESSAGES[index] ?? new Uint8Array(0),
  parts: packetsOf[index] ?? [],
}));

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = new Uint8Array(bytes);
  const at = bit >> 3;
  changed[at] = (changed[at] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

const flipped = fc.tuple(message, fc.nat()).map(([{ bytes }, bit]) => flip(bytes, bit % (8 * bytes.length)));
const cut = fc.tuple(message, fc.nat()).map(([{ bytes }, length]) => bytes.subarray(0, length % bytes.length));
const longer = fc
  .tuple(message, fc.uint8Array({ minLength: 1, maxLength: 100 }))
  .map(([{ bytes }, more]) => join([bytes, more]));
/** Messages with reordered, missing or repeated packets, or with the header of another message. */
const rearranged = fc
  .tuple(message, message, fc.array(fc.nat(), { minLength: 0, maxLength: 5 }))
  .filter(([one, other, places]) => places.length > 0 || one !== other)
  .map(
    ([
      {
        parts: [header = new Uint8Array(0)],
      },
      {
        parts: [, ...packets],
      },
      places,
    ]) => join([header, ...places.flatMap((place) => packets[place % packets.length] ?? [])]),
  );

const mutated = fc.oneof({ weight: 5, arbitrary: flipped }, cut, longer, rearranged).filter(isChanged);

function isChanged(bytes: Uint8Array): boolean {
  return !MESSAGES.some((one) => Buffer.from(one).equals(bytes));
}

/** Changes to the armored text, other than to white space, quoting and the frame, which do not affect the message. */
const TEXTS = MESSAGES.map((bytes) => armor(bytes));
const contentOf = (text: string) => text.replace(/[>\s]/g, "");
const CONTENTS = TEXTS.map(contentOf);
const text = fc.constantFrom(...TEXTS);
const mutatedText = fc
  .oneof(
    { weight: 5, arbitrary: fc.tuple(text, fc.nat()).map(([one, bit]) => flippedText(one, bit % (8 * one.length))) },
    fc.tuple(text, fc.nat()).map(([one, length]) => one.slice(0, length % one.length)),
    fc.tuple(text, fc.string({ minLength: 1, maxLength: 20, unit: "binary-ascii" })).map(([one, more]) => one + more),
    mutated.map((bytes) => armor(bytes)),
  )
  .filter((changed) => !CONTENTS.includes(contentOf(changed)));

function flippedText(one: string, bit: number): string {
  return Buffer.from(flip(utf8(one), bit)).toString("latin1");
}

/** @returns whether it opens; errors other than TwtxtError fail the test */
function opens(bytes: Uint8Array | string, primitives: Primitives): boolean {
  try {
    openBinary(typeof bytes === "string" ? dearmor(bytes) : bytes, keys.get(primitives) ?? fail(), primitives);
    return true;
  } catch (error) {
    if (error instanceof TwtxtError) return false;
    throw error;
  }
}

function fail(): never {
  throw new Error("no key");
}

const keys = new Map(backends.map(([, primitives]) => [primitives, primitives.secretKey(BOB)]));

describe.each(backends)("a modified message on %s", { timeout: 120_000 + 2 * MUTATIONS }, (name, primitives) => {
  const count = name === "noble" ? MUTATIONS / SHARE_OF_NOBLE : MUTATIONS;
  const options = { seed: SEED, numRuns: runs(Math.ceil(count / 4)) };

  it("opens if unmodified", () => {
    for (const bytes of MESSAGES) openedByBob(bytes, primitives);
    expect(TEXTS.map((one) => opens(one, primitives))).not.toContain(false);
  });

  it("does not open if bits are flipped, or if it is truncated, extended or reordered", () => {
    fc.assert(
      fc.property(mutated, (bytes) => !opens(bytes, primitives)),
      options,
    );
  });

  it("does not open in armored form either", () => {
    fc.assert(
      fc.property(mutatedText, (changed) => !opens(changed, primitives)),
      options,
    );
  });
});

describe("a short message", () => {
  const [short = new Uint8Array(0)] = MESSAGES;

  it("does not open with any bit flipped", () => {
    const opened = Array.from({ length: 8 * short.length }, (_, bit) => bit).filter((bit) =>
      opens(flip(short, bit), node),
    );
    expect(opened).toEqual([]);
  });

  it("does not open if truncated at any byte or extended by any byte", () => {
    const cuts = Array.from({ length: short.length }, (_, length) => short.subarray(0, length));
    const longer = Array.from({ length: 256 }, (_, byte) => join([short, Uint8Array.of(byte)]));
    expect([...cuts, ...longer].filter((bytes) => opens(bytes, node))).toEqual([]);
  });
});
