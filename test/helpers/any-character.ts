// test/helpers/any-character.ts: any character of Unicode, for property tests.
import fc from "fast-check";

const SURROGATES = 0x800;

/** The same values as the unit "binary" of fast-check, for which it builds a map of all characters in a second. */
export const anyCharacter = fc
  .nat(0x10ffff - SURROGATES)
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + SURROGATES));
