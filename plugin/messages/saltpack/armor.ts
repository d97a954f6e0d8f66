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

const BLOCK_BYTES = 32;
const BLOCK_DIGITS = 43;

/**
 * Three bytes and four digits are converted at once. The products are below 2^24 * 62^4, hence below 2^48, and exact in a
 * double. BigInt would be ten times slower.
 */
const LIMB = 2 ** 24;
const LIMB_BYTES = 3;
const GROUP = 62 ** 4;
const GROUP_DIGITS = 4;

/** A block as a number, the most significant limb first. */
type Limbs = Float64Array;
const LIMBS = Math.ceil(BLOCK_BYTES / LIMB_BYTES);

/**
 * Converts bytes to base 62, in blocks of 32 bytes or 43 digits.
 *
 * @returns digits from 0 to 61, the most significant one of each block first
 * @see saltpack_armor, "BaseX Encoding"
 */
function toBase62(bytes: Uint8Array): Uint8Array {
  const digits = new Uint8Array(countDigits(bytes.length));
  const limbs = new Float64Array(LIMBS);
  for (let from = 0, to = 0; from < bytes.length; from += BLOCK_BYTES, to += BLOCK_DIGITS) {
    readBytes(bytes, from, Math.min(from + BLOCK_BYTES, bytes.length), limbs);
    writeDigits(limbs, digits, to, Math.min(to + BLOCK_DIGITS, digits.length));
  }
  return digits;
}

/**
 * The inverse of {@link toBase62}.
 *
 * @throws TwtxtError `bad-armor` for a block whose number is too large, and for an impossible number of digits
 */
function fromBase62(digits: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(countBytes(digits.length));
  if (countDigits(bytes.length) !== digits.length) throw badArmor("characters are missing or were added");
  const limbs = new Float64Array(LIMBS);
  for (let from = 0, to = 0; from < digits.length; from += BLOCK_DIGITS, to += BLOCK_BYTES) {
    readDigits(digits, from, Math.min(from + BLOCK_DIGITS, digits.length), limbs);
    writeBytes(limbs, bytes, to, Math.min(to + BLOCK_BYTES, bytes.length));
  }
  return bytes;
}

function countDigits(bytes: number): number {
  const rest = bytes % BLOCK_BYTES;
  return ((bytes - rest) / BLOCK_BYTES) * BLOCK_DIGITS + Math.ceil((rest * 8) / Math.log2(62));
}

function countBytes(digits: number): number {
  const rest = digits % BLOCK_DIGITS;
  return ((digits - rest) / BLOCK_DIGITS) * BLOCK_BYTES + Math.floor((rest * Math.log2(62)) / 8);
}

function readBytes(bytes: Uint8Array, start: number, end: number, limbs: Limbs): void {
  for (let index = LIMBS - 1, at = end; index >= 0; index -= 1, at -= LIMB_BYTES) {
    let limb = 0;
    for (let byte = Math.max(start, at - LIMB_BYTES); byte < at; byte += 1) limb = (limb << 8) | (bytes[byte] ?? 0);
    limbs[index] = limb;
  }
}

/** Divides by 62^4 repeatedly. Each remainder has the next four digits from the right. */
function writeDigits(limbs: Limbs, digits: Uint8Array, start: number, end: number): void {
  let first = 0;
  for (let at = end; at > start; at -= GROUP_DIGITS) {
    let group = 0;
    for (let index = first; index < LIMBS; index += 1) {
      const dividend = group * LIMB + (limbs[index] ?? 0);
      const quotient = Math.floor(dividend / GROUP);
      limbs[index] = quotient;
      group = dividend - quotient * GROUP;
    }
    while (first < LIMBS && limbs[first] === 0) first += 1;
    // As a 32-bit integer, it is divided without floating point.
    let rest = group | 0;
    for (let digit = at - 1; digit >= Math.max(start, at - GROUP_DIGITS); digit -= 1) {
      digits[digit] = rest % 62;
      rest = (rest / 62) | 0;
    }
  }
}

/** Multiplies by 62^4 and adds the next four digits, repeatedly. */
function readDigits(digits: Uint8Array, start: number, end: number, limbs: Limbs): void {
  limbs.fill(0);
  let first = LIMBS;
  let at = start;
  for (let stop = start + ((end - start) % GROUP_DIGITS); at < end; stop += GROUP_DIGITS) {
    let carry = 0;
    for (; at < stop; at += 1) carry = carry * 62 + (digits[at] ?? 0);
    for (let index = LIMBS - 1; index >= first; index -= 1) {
      const sum = (limbs[index] ?? 0) * GROUP + carry;
      carry = Math.floor(sum / LIMB);
      limbs[index] = sum - carry * LIMB;
    }
    if (carry > 0) {
      first -= 1;
      limbs[first] = carry;
    }
  }
}

function writeBytes(limbs: Limbs, bytes: Uint8Array, start: number, end: number): void {
  let at = end;
  for (let index = LIMBS - 1; index >= 0; index -= 1) {
    let limb = (limbs[index] ?? 0) | 0;
    for (let count = 0; count < LIMB_BYTES && at > start; count += 1) {
      at -= 1;
      bytes[at] = limb;
      limb >>= 8;
    }
    if (limb > 0) throw badArmor("a block is too large");
  }
}

function badArmor(why: string): TwtxtError {
  return new TwtxtError("bad-armor", `The armored message is damaged: ${why}.`);
}
