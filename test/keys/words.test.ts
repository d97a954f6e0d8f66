import { readFileSync } from "node:fs";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countWords, seedOfWords, wordsOfSeed } from "../../plugin/keys/words.js";

const { keys_pub_paper_key: vector } = JSON.parse(
  readFileSync(new URL("../vectors/signcryption.json", import.meta.url), "utf8"),
) as { keys_pub_paper_key: { ed25519_seed: string; bip39: string } };
const SEED = Uint8Array.from(Buffer.from(vector.ed25519_seed, "hex"));
const WORDS = vector.bip39.split(" ");

const badIdentity = (message: string) => expect.objectContaining({ code: "bad-identity", message });

describe("the words of a seed", () => {
  it("match the vector in both directions", () => {
    expect(wordsOfSeed(SEED)).toEqual(WORDS);
    expect(seedOfWords(vector.bip39)).toEqual(SEED);
  });

  it("restore every seed", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
        const words = wordsOfSeed(seed);
        expect(words).toHaveLength(24);
        expect(seedOfWords(words.join(" "))).toEqual(seed);
      }),
      { seed: 24 },
    );
  });

  it.each([
    ["capitals", vector.bip39.toUpperCase()],
    ["line breaks, spaces and a byte order mark", `\uFEFF\n ${WORDS.join(" \r\n\t ")}\n\n`],
    ["numbers before the words", WORDS.map((word, at) => `${at + 1}. ${word}`).join("\n")],
    ["numbers directly before the words", WORDS.map((word, at) => `${at + 1}.${word}`).join(" ")],
    ["numbers in parentheses, and commas", WORDS.map((word, at) => `(${at + 1}) ${word},`).join("")],
  ])("can be entered with %s", (_, text) => {
    expect(countWords(text)).toBe(24);
    expect(seedOfWords(text)).toEqual(SEED);
  });

  it.each([
    ["", "Expected 24 words, got 0."],
    [WORDS.slice(1).join(" "), "Expected 24 words, got 23."],
    [`${vector.bip39} zoo`, "Expected 24 words, got 25."],
    [WORDS.with(6, "advyce").join(" "), "Word 7 is not in the English list of BIP-39: check the spelling."],
    [
      WORDS.with(0, "secretive").with(23, "kömic").join(" "),
      "Words 1, 24 are not in the English list of BIP-39: check the spelling.",
    ],
    [WORDS.with(1, "zoo").join(" "), "The checksum of these words does not match: a word is wrong, or their order is."],
  ])("bad-identity: %j; the message has none of the words", (text, message) => {
    expect(() => seedOfWords(text)).toThrow(badIdentity(message));
  });

  it("are refused after most changes, and never restore this seed", () => {
    const other = fc.tuple(fc.nat(23), fc.constantFrom(...wordlist)).filter(([at, word]) => WORDS[at] !== word);
    fc.assert(
      fc.property(other, ([at, word]) => {
        try {
          expect(seedOfWords(WORDS.with(at, word).join(" "))).not.toEqual(SEED);
        } catch (error) {
          expect(error).toMatchObject({ code: "bad-identity" });
          expect(Object(error).cause).toBeUndefined();
        }
      }),
      { seed: 25 },
    );
  });
});
