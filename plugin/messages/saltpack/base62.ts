// plugin/messages/saltpack/base62.ts: bytes as digits to the base of 62, 32 bytes as 43 digits.
import { TwtxtError } from "../../errors.js";

const BLOCK_BYTES = 32;
const BLOCK_DIGITS = 43;

/**
 * Three bytes and four digits are worked on at once. The products are below 2^24 * 62^4, which is below 2^48: integers
 * that a double holds exactly. BigInt is ten times as slow.
 */
const LIMB = 2 ** 24;
const LIMB_BYTES = 3;
const GROUP = 62 ** 4;
const GROUP_DIGITS = 4;

/** A block's number, the most significant limb first: eleven of them hold 32 bytes, and 43 digits too. */
type Limbs = Float64Array;
const LIMBS = Math.ceil(BLOCK_BYTES / LIMB_BYTES);

/**
 * Writes bytes as digits.
 *
 * @returns numbers from 0 to 61, the most significant one of each block first
 * @see saltpack_armor, "BaseX Encoding"
 */
export function toBase62(bytes: Uint8Array): Uint8Array {
  const digits = new Uint8Array(digitsFor(bytes.length));
  const limbs = new Float64Array(LIMBS);
  for (let from = 0, to = 0; from < bytes.length; from += BLOCK_BYTES, to += BLOCK_DIGITS) {
    readBytes(bytes, from, Math.min(from + BLOCK_BYTES, bytes.length), limbs);
    writeDigits(limbs, digits, to, Math.min(to + BLOCK_DIGITS, digits.length));
  }
  return digits;
}

/**
 * Reads what {@link toBase62} writes, and nothing else.
 *
 * @param digits - numbers from 0 to 61
 * @throws TwtxtError `bad-armor` for a block whose number is too large for its bytes, and for a last block of a length
 *   that no number of bytes has
 */
export function fromBase62(digits: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(bytesFor(digits.length));
  if (digitsFor(bytes.length) !== digits.length) throw badArmor("it is cut, or has a character too many");
  const limbs = new Float64Array(LIMBS);
  for (let from = 0, to = 0; from < digits.length; from += BLOCK_DIGITS, to += BLOCK_BYTES) {
    readDigits(digits, from, Math.min(from + BLOCK_DIGITS, digits.length), limbs);
    writeBytes(limbs, bytes, to, Math.min(to + BLOCK_BYTES, bytes.length));
  }
  return bytes;
}

function digitsFor(bytes: number): number {
  const rest = bytes % BLOCK_BYTES;
  return ((bytes - rest) / BLOCK_BYTES) * BLOCK_DIGITS + Math.ceil((rest * 8) / Math.log2(62));
}

function bytesFor(digits: number): number {
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

/** Divides by 62^4 again and again; what remains each time are the last four digits that are still to write. */
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
    // Told to be of 32 bits, it is divided by integer arithmetic.
    let rest = group | 0;
    for (let digit = at - 1; digit >= Math.max(start, at - GROUP_DIGITS); digit -= 1) {
      digits[digit] = rest % 62;
      rest = (rest / 62) | 0;
    }
  }
}

/** Multiplies by 62^4 and adds the next four digits, again and again. */
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
    if (limb > 0) throw badArmor("a block of it is too large a number");
  }
}

/** A fault in armored text, told to whoever pasted or sent it. */
export function badArmor(why: string): TwtxtError {
  return new TwtxtError("bad-armor", `The armored message is damaged: ${why}.`);
}
