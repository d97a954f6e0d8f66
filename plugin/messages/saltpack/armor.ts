// plugin/messages/saltpack/armor.ts: sealed messages as text that can be pasted, quoted and wrapped.
import { TwtxtError } from "../../errors.js";

const ALPHABET = ascii("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
const SEPARATORS = ascii("> \t\r\n");
const HEADER = ascii("BEGIN SALTPACK ENCRYPTED MESSAGE. ");
const FOOTER = ascii(". END SALTPACK ENCRYPTED MESSAGE.\n");
const FULL_STOP = 0x2e;
const SPACE = 0x20;
const LF = 0x0a;
const WORD_CHARACTERS = 15;
const LINE_WORDS = 200;

/** A header or footer, with the optional brand of an application. */
const FRAME =
  /^[>\n\r\t ]*(BEGIN|END)[>\n\r\t ]+(?:([a-zA-Z0-9]{1,128})[>\n\r\t ]+)?SALTPACK[>\n\r\t ]+ENCRYPTED[>\n\r\t ]+MESSAGE[>\n\r\t ]*$/;
const MAX_FRAME_CHARACTERS = 512;

/** The values of characters: digits from 0 to 61, and these. */
const SEPARATOR = 62;
const INVALID = 63;
const VALUES = new Uint8Array(256).fill(INVALID);
for (const separator of SEPARATORS) VALUES[separator] = SEPARATOR;
for (const [digit, character] of ALPHABET.entries()) VALUES[character] = digit;

/**
 * Converts a sealed message to text: words of 15 characters, lines of 200 words, no brand.
 *
 * @param bytes - the binary form
 * @see saltpack_armor; PROTOCOL 3.2
 */
export function armor(bytes: Uint8Array): string {
  const digits = toBase62(bytes);
  const words = Math.floor(digits.length / WORD_CHARACTERS);
  const text = new Uint8Array(HEADER.length + digits.length + words + FOOTER.length);
  text.set(HEADER);
  let at = HEADER.length;
  for (let index = 0, word = 1; index < digits.length; word += 1) {
    const end = Math.min(index + WORD_CHARACTERS, digits.length);
    for (; index < end; index += 1) text[at++] = ALPHABET[digits[index] ?? 0] ?? 0;
    // A separator follows each whole word, also the last one, as in the reference.
    if (word <= words) text[at++] = word % LINE_WORDS === 0 ? LF : SPACE;
  }
  text.set(FOOTER, at);
  return new TextDecoder().decode(text);
}

/**
 * Converts armored text to the binary form, which is not checked. Ignores white space and `>` quoting, and accepts a brand.
 *
 * @param text - the caller must limit its size; up to three times as much memory is allocated
 * @throws TwtxtError `bad-armor` for a wrong or missing header or footer, other text around them, invalid characters, and
 *   blocks that overflow or are not minimal
 * @see saltpack_armor, "Framing the BaseX Payload"
 */
export function dearmor(text: string | Uint8Array): Uint8Array {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const headerEnd = nextFullStop(bytes, 0);
  const bodyEnd = nextFullStop(bytes, headerEnd + 1);
  const footerEnd = nextFullStop(bytes, bodyEnd + 1);

  const brand = readFrame(bytes.subarray(0, headerEnd), "BEGIN");
  if (readFrame(bytes.subarray(bodyEnd + 1, footerEnd), "END") !== brand) {
    throw badArmor("its header and footer have different brands");
  }
  if (selectDigits(bytes.subarray(footerEnd + 1)).length > 0) throw badArmor("it is followed by other text");
  return fromBase62(selectDigits(bytes.subarray(headerEnd + 1, bodyEnd)));
}

/** Whether a received message is armored. A binary one starts with a byte that ASCII does not have. */
export function isArmored(body: Uint8Array): boolean {
  return (body[0] ?? 0xff) < 0x80;
}

function nextFullStop(bytes: Uint8Array, from: number): number {
  const found = bytes.indexOf(FULL_STOP, from);
  if (found < 0) throw badArmor("it is truncated");
  return found;
}

/** @returns the brand, if any */
function readFrame(bytes: Uint8Array, first: "BEGIN" | "END"): string | undefined {
  const text = bytes.length > MAX_FRAME_CHARACTERS ? "" : String.fromCharCode(...bytes);
  const [, word, brand] = FRAME.exec(text) ?? [];
  if (word === first) return brand;
  throw badArmor(`expected "${first} SALTPACK ENCRYPTED MESSAGE."`);
}

function selectDigits(body: Uint8Array): Uint8Array {
  const digits = new Uint8Array(body.length);
  let count = 0;
  for (let index = 0; index < body.length; index += 1) {
    const value = VALUES[body[index] ?? 0] ?? INVALID;
    if (value === INVALID) throw badArmor("it contains an invalid character");
    if (value !== SEPARATOR) digits[count++] = value;
  }
  return digits.subarray(0, count);
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A number system in which a block is written: a number with the most significant digit first. */
interface System {
  base: number;
  /** The digits of a whole block. */
  block: number;
  /**
   * This many digits are converted at once. The products of groups are below 2^24 * 62^4, hence below 2^48, and exact in a
   * double. BigInt would be ten times slower.
   */
  group: number;
  /** `base ** group` */
  size: number;
}
const BYTES: System = { base: 256, block: 32, group: 3, size: 2 ** 24 };
const BASE_62: System = { base: 62, block: 43, group: 4, size: 62 ** 4 };
/** The groups of a block, in either system. */
const LIMBS = 11;

/**
 * Converts bytes to base 62, in blocks of 32 bytes or 43 digits.
 *
 * @returns digits from 0 to 61, the most significant one of each block first
 * @see saltpack_armor, "BaseX Encoding"
 */
function toBase62(bytes: Uint8Array): Uint8Array {
  return convert(bytes, BYTES, new Uint8Array(countDigits(bytes.length)), BASE_62);
}

/**
 * The inverse of {@link toBase62}.
 *
 * @throws TwtxtError `bad-armor` for a block whose number is too large, and for an impossible number of digits
 */
function fromBase62(digits: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(countBytes(digits.length));
  if (countDigits(bytes.length) !== digits.length) throw badArmor("characters are missing or were added");
  return convert(digits, BASE_62, bytes, BYTES);
}

function countDigits(bytes: number): number {
  const rest = bytes % BYTES.block;
  return ((bytes - rest) / BYTES.block) * BASE_62.block + Math.ceil((rest * 8) / Math.log2(62));
}

function countBytes(digits: number): number {
  const rest = digits % BASE_62.block;
  return ((digits - rest) / BASE_62.block) * BYTES.block + Math.floor((rest * Math.log2(62)) / 8);
}

/** @param target - is filled, with a block for each of the source, and returned */
function convert(source: Uint8Array, from: System, target: Uint8Array, to: System): Uint8Array {
  const limbs = new Float64Array(LIMBS);
  for (let start = 0, place = 0; start < source.length; start += from.block, place += to.block) {
    readBlock(source, start, Math.min(start + from.block, source.length), from, limbs, to.size);
    writeBlock(limbs, target, place, Math.min(place + to.block, target.length), to);
  }
  return target;
}

/** Multiplies by the size of groups and adds the next group, repeatedly. */
function readBlock(
  digits: Uint8Array,
  start: number,
  end: number,
  { base, group, size }: System,
  limbs: Float64Array,
  limb: number,
): void {
  limbs.fill(0);
  let first = LIMBS;
  let at = start;
  for (let stop = start + ((end - start) % group); at < end; stop += group) {
    let carry = 0;
    for (; at < stop; at += 1) carry = carry * base + (digits[at] ?? 0);
    for (let index = LIMBS - 1; index >= first; index -= 1) {
      const sum = (limbs[index] ?? 0) * size + carry;
      carry = Math.floor(sum / limb);
      limbs[index] = sum - carry * limb;
    }
    for (; carry > 0; carry = Math.floor(carry / limb)) limbs[--first] = carry % limb;
  }
}

function writeBlock(
  limbs: Float64Array,
  digits: Uint8Array,
  start: number,
  end: number,
  { base, group }: System,
): void {
  let at = end;
  for (let index = LIMBS - 1; index >= 0; index -= 1) {
    // As a 32-bit integer, it is divided without floating point.
    let rest = (limbs[index] ?? 0) | 0;
    for (let count = 0; count < group && at > start; count += 1) {
      at -= 1;
      digits[at] = rest % base;
      rest = (rest / base) | 0;
    }
    if (rest > 0) throw badArmor("a block is too large");
  }
}

function badArmor(why: string): TwtxtError {
  return new TwtxtError("bad-armor", `The armored message is damaged: ${why}.`);
}
