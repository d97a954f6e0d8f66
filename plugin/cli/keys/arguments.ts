// plugin/cli/keys/arguments.ts: what all actions of `eleventy-twtxt keys` understand alike.
import { parseAddress } from "../../keys/address.js";
import type { StoredIdentity } from "../../keys/identity.js";
import { misuse } from "../command.js";

export const JSON_OPTION = { json: { type: "boolean" } } as const;

/** @throws TwtxtError `bad-usage` where others are given than those that are expected */
export function expectWords(command: string, words: string[], expected: string[]): string[] {
  if (words.length === expected.length) return words;
  throw misuse(`${command}: expected ${expected.join(" and ")}.`, "keys");
}

/** @throws TwtxtError `bad-usage` */
export function checkAddress(text: string): string {
  const address = parseAddress(text);
  if (address !== null) return address;
  throw misuse(`keys: expected an address such as alice@alice.example, got "${text}".`, "keys");
}

/** What `--json` says of a key: all of it may be known to everybody. */
export function publicFacts({ identity: { address, publicKey, created }, file }: StoredIdentity) {
  return { address, key: publicKey, created, file };
}

/** Where a key is, in words. */
export function placeOf({ file }: StoredIdentity): string {
  return file ?? "the system keychain";
}
