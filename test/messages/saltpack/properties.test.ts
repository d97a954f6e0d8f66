import { createHash, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TwtxtError } from "../../../plugin/errors.js";
import { armor } from "../../../plugin/messages/saltpack/armor.js";
import { Saltpack } from "../../../plugin/messages/saltpack/saltpack.js";
import { anyCharacter } from "../../helpers/any-character.js";
import { runs } from "../../helpers/runs.js";
import { BOB, backends, sealed, utf8 } from "./vectors.js";

const CODES = ["bad-armor", "bad-message", "not-a-recipient", "not-authentic"];
/** A fixed seed, for the same cases in each run. */
const SEED = 1;

const seeds = fc.uniqueArray(fc.uint8Array({ minLength: 32, maxLength: 32 }), {
  minLength: 1,
  maxLength: 8,
  selector: (seed) => seed.join(),
});

/** @returns the error code; errors other than TwtxtError fail the test */
function refusal(
  saltpack: Saltpack,
  message: Uint8Array | string,
  key: Parameters<Saltpack["open"]>[1]["key"],
): string {
  try {
    saltpack.open(message, { key });
    return "opened";
  } catch (error) {
    if (error instanceof TwtxtError) return error.code;
    throw error;
  }
}

describe.each(backends)("any message on %s", (name, primitives) => {
  const saltpack = new Saltpack(primitives, randomBytes);
  const numRuns = runs(name === "noble" ? 5 : 25);

  it("opens for each recipient and for no one else", () => {
    const property = fc.property(seeds, fc.uint8Array({ maxLength: 5000 }), fc.boolean(), (keys, plaintext, asText) => {
      const [sender, ...others] = keys.map((seed) => primitives.secretKey(seed));
      if (!sender) return;
      const recipients = [sender, ...others.slice(1)];
      const options = { sender, recipients: recipients.map(({ publicKey }) => publicKey) };
      const message = saltpack.seal(plaintext, { ...options, armor: asText });
      for (const key of recipients) {
        expect(saltpack.open(message, { key })).toEqual({ plaintext, sender: sender.publicKey });
      }
      const [stranger] = others;
      if (stranger) expect(refusal(saltpack, message, stranger)).toBe("not-a-recipient");
    });
    fc.assert(property, { seed: SEED, numRuns });
  });
});

describe.each(backends)("any other input on %s", (name, primitives) => {
  const saltpack = new Saltpack(primitives, randomBytes);
  const key = primitives.secretKey(BOB);
  const numRuns = runs(name === "noble" ? 15 : 50);
  const good = sealed(utf8("hello"), primitives);

  const refused = (message: fc.Arbitrary<Uint8Array | string>) =>
    fc.assert(
      fc.property(message, (one) => CODES.includes(refusal(saltpack, one, key))),
      { seed: SEED, numRuns },
    );
  // Hashes are faster than fast-check, which would generate each byte.
  const junk = fc
    .tuple(fc.nat(65_536), fc.integer())
    .map(([outputLength, seed]) => createHash("shake256", { outputLength }).update(`${seed}`).digest());

  it("is refused with one of four codes: bytes", () => {
    refused(junk);
  });

  it("is refused with one of four codes: text", () => {
    refused(fc.string({ maxLength: 2000, unit: anyCharacter }));
    refused(junk.map((bytes) => armor(bytes)));
  });

  it("is refused with one of four codes: bytes after the start or header of a message", () => {
    refused(
      fc
        .tuple(fc.nat(good.length - 1), junk)
        .map(([length, tail]) => Uint8Array.of(...good.subarray(0, length), ...tail)),
    );
    refused(junk.map((tail) => Uint8Array.of(...good.subarray(0, 186), ...tail)));
  });

  it("is refused with one of four codes: a message with overwritten bytes", () => {
    const over = fc.tuple(fc.nat(good.length - 1), fc.uint8Array({ minLength: 1, maxLength: 20 }));
    const message = over.map(([at, bytes]) => {
      const changed = new Uint8Array(good);
      changed.set(bytes.subarray(0, good.length - at), at);
      return changed;
    });
    refused(message.filter((changed) => !Buffer.from(changed).equals(good)));
  });
});
