// plugin/messages/saltpack/armor.ts: a sealed message as text that survives being pasted, quoted and wrapped.
import { badArmor, fromBase62, toBase62 } from "./base62.js";

const ALPHABET = ascii("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
const SEPARATORS = ascii("> \t\r\n");
const HEADER = ascii("BEGIN SALTPACK ENCRYPTED MESSAGE. ");
const FOOTER = ascii(". END SALTPACK ENCRYPTED MESSAGE.\n");
const FULL_STOP = 0x2e;
const SPACE = 0x20;
const LF = 0x0a;
const WORD_CHARACTERS = 15;
const LINE_WORDS = 200;

/** A header or a footer, with the brand that an application may put into it. */
const FRAME =
  /^[>\n\r\t ]*(BEGIN|END)[>\n\r\t ]+(?:([a-zA-Z0-9]{1,128})[>\n\r\t ]+)?SALTPACK[>\n\r\t ]+ENCRYPTED[>\n\r\t ]+MESSAGE[>\n\r\t ]*$/;
const MAX_FRAME_CHARACTERS = 512;

/** What a byte of a body stands for: a digit, from 0 to 61, or one of these. */
const SEPARATOR = 62;
const NOTHING = 63;
const MEANINGS = meanings();

/**
 * Writes a sealed message as text, laid out as the reference does: words of 15 characters, lines of 200 words, no brand.
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
    // Every whole word is followed by one, the last one too: so does the reference.
    if (word <= words) text[at++] = word % LINE_WORDS === 0 ? LF : SPACE;
  }
  text.set(FOOTER, at);
  return new TextDecoder().decode(text);
}

/**
 * Reads armored text, whatever its white space and `>` quoting, with or without a brand.
 *
 * Allocates up to three times the size of the text, whatever it says; to bound that size is the caller's.
 *
 * @returns the binary form; what it holds is not looked at
 * @throws TwtxtError `bad-armor` for a frame that is not one of an encrypted message or does not close as it opened,
 *   anything but separators around it, a character outside the alphabet, and blocks that overflow or are not minimal
 * @see saltpack_armor, "Framing the BaseX Payload"
 */
export function dearmor(text: string | Uint8Array): Uint8Array {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const headerEnd = nextFullStop(bytes, 0);
  const bodyEnd = nextFullStop(bytes, headerEnd + 1);
  const footerEnd = nextFullStop(bytes, bodyEnd + 1);

  const brand = readFrame(bytes.subarray(0, headerEnd), "BEGIN");
  if (readFrame(bytes.subarray(bodyEnd + 1, footerEnd), "END") !== brand) {
    throw badArmor("it does not end as it begins");
  }
  if (readDigits(bytes.subarray(footerEnd + 1)).length > 0) throw badArmor("something follows its end");
  return fromBase62(readDigits(bytes.subarray(headerEnd + 1, bodyEnd)));
}

/** Whether a message as received is to be read as text. A binary one begins with a byte that no ASCII text has. */
export function isArmored(body: Uint8Array): boolean {
  return (body[0] ?? 0xff) < 0x80;
}

function nextFullStop(bytes: Uint8Array, from: number): number {
  const found = bytes.indexOf(FULL_STOP, from);
  if (found < 0) throw badArmor("it is cut");
  return found;
}

/** @returns the brand, or nothing where there is none */
function readFrame(bytes: Uint8Array, first: "BEGIN" | "END"): string | undefined {
  const text = bytes.length > MAX_FRAME_CHARACTERS ? "" : String.fromCharCode(...bytes);
  const [, word, brand] = FRAME.exec(text) ?? [];
  if (word === first) return brand;
  throw badArmor(`expected "${first} SALTPACK ENCRYPTED MESSAGE."`);
}

function readDigits(body: Uint8Array): Uint8Array {
  const digits = new Uint8Array(body.length);
  let count = 0;
  for (let index = 0; index < body.length; index += 1) {
    const meaning = MEANINGS[body[index] ?? 0] ?? NOTHING;
    if (meaning === NOTHING) throw badArmor("it holds a character that armor does not have");
    if (meaning !== SEPARATOR) digits[count++] = meaning;
  }
  return digits.subarray(0, count);
}

function meanings(): Uint8Array {
  const table = new Uint8Array(256).fill(NOTHING);
  for (const separator of SEPARATORS) table[separator] = SEPARATOR;
  for (const [digit, character] of ALPHABET.entries()) table[character] = digit;
  return table;
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
