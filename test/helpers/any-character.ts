// test/helpers/any-character.ts: any character of Unicode, for property tests.
import fc from "fast-check";

const SURROGATES = 0x800;

/** The same values as fast-check's unit "binary", without the second that it takes to map all characters. */
export const anyCharacter = fc
  .nat(0x10ffff - SURROGATES)
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + SURROGATES));
