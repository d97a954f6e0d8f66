// plugin/keys/words.ts: private keys as 24 English words (BIP-39), for paper backups.
import { entropyToMnemonic, mnemonicToEntropy } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { TwtxtError } from "../errors.js";

/** 256 bits and an 8-bit checksum, 11 bits per word. See BIP-39. */
export const WORDS = 24;

const KNOWN = new Set(wordlist);

/**
 * Writes a seed as words.
 *
 * @param seed - 32 bytes
 * @see PROTOCOL 3.1 and BIP-39
 */
export function wordsOfSeed(seed: Uint8Array): string[] {
  return entropyToMnemonic(seed, wordlist).split(" ");
}

/**
 * Parses words typed from paper: in any case, over several lines, with numbers, commas or full stops.
 *
 * @returns a seed of 32 bytes
 * @throws TwtxtError `bad-identity`; names a wrong word only by its position
 */
export function seedOfWords(text: string): Uint8Array {
  const words = splitWords(text);
  if (words.length !== WORDS) throw bad(`Expected ${WORDS} words, got ${words.length}.`);
  const unknown = words.flatMap((word, at) => (KNOWN.has(word) ? [] : [at + 1]));
  if (unknown.length > 0) {
    const wrong = unknown.length === 1 ? `Word ${unknown[0]} is` : `Words ${unknown.join(", ")} are`;
    throw bad(`${wrong} not in the English list of BIP-39: check the spelling.`);
  }
  try {
    return mnemonicToEntropy(words.join(" "), wordlist);
  } catch {
    // Without the cause, which may quote a word.
    throw bad("The checksum of these words does not match: a word is wrong, or their order is.");
  }
}

export function countWords(text: string): number {
  return splitWords(text).length;
}

function splitWords(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s,;]+/)
    .map((word) => word.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, ""))
    .filter((word) => word !== "");
}

function bad(message: string): TwtxtError {
  return new TwtxtError("bad-identity", message);
}
