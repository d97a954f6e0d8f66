import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { armor, dearmor, isArmored } from "../../../plugin/messages/saltpack/armor.js";
import { runs } from "../../helpers/runs.js";

interface Vector {
  name: string;
  armored?: string;
  ciphertext_hex?: string;
  brand?: string;
  group?: string;
  expect?: string;
  reason?: string;
}
interface VectorFile {
  signcryption: Vector[];
  surgery?: Vector[];
}
const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), "utf8")) as VectorFile;
const { signcryption, surgery = [] } = read("signcryption-go");
const vectors = [...read("signcryption").signcryption, ...signcryption];
const texts = vectors.filter(({ armored }) => armored);
const faults = surgery.filter(({ group }) => group === "armor");
/** Their armor is valid, but the message inside is not. */
const FAULT_INSIDE = "armor-truncated";

const hex = (text: string) => new Uint8Array(Buffer.from(text, "hex"));
const badArmor = expect.objectContaining({ code: "bad-armor" });
const HEADER = "BEGIN SALTPACK ENCRYPTED MESSAGE.";
const FOOTER = "END SALTPACK ENCRYPTED MESSAGE.";
const framed = (body: string) => `${HEADER} ${body}. ${FOOTER}\n`;

describe("armored text from other implementations", () => {
  it.each(texts)("is read and written byte for byte: $name", ({ name, armored = "", ciphertext_hex, brand }) => {
    const bytes = dearmor(armored);
    const text = armor(bytes);
    if (ciphertext_hex) expect(bytes).toEqual(hex(ciphertext_hex));
    // One has other white space than the reference writes. A brand is read but never written.
    if (brand) expect(text).toBe(armored.replaceAll(`${brand} `, ""));
    else if (name === "go-reference-armored") expect(text.replace(/\s/g, "")).toBe(armored.replace(/\s/g, ""));
    else expect(text).toBe(armored);
  });

  it.each(faults)("$expect: $name ($reason)", ({ name, armored = "", expect: outcome }) => {
    if (outcome === "accept" || name === FAULT_INSIDE) expect(dearmor(armored).length).toBeGreaterThan(200);
    else expect(() => dearmor(armored)).toThrow(badArmor);
  });

  it("exists in the vectors", () => {
    expect([texts.length, faults.length]).toEqual([12, 26]);
  });
});

describe("armor", () => {
  it("encodes each length like BigInt arithmetic, and decodes it", () => {
    for (let length = 0; length <= 200; length += 1) {
      for (const bytes of [new Uint8Array(length), new Uint8Array(length).fill(255), pattern(length)]) {
        const text = armor(bytes);
        expect(text).toBe(naiveArmor(bytes));
        expect(dearmor(text)).toEqual(bytes);
      }
    }
  });

  it("encodes and decodes random bytes of any length", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 6000, size: "max" }), (bytes) => {
        const text = armor(bytes);
        expect(text).toBe(naiveArmor(bytes));
        expect(dearmor(text)).toEqual(bytes);
      }),
      { numRuns: runs(100) },
    );
  });

  it("works on a view of a larger buffer and does not modify its arguments", () => {
    const whole = pattern(100);
    const part = whole.subarray(7, 90);
    expect(dearmor(armor(part))).toEqual(pattern(100).slice(7, 90));
    const text = new TextEncoder().encode(`padding${armor(part)}`);
    expect(dearmor(text.subarray("padding".length))).toEqual(pattern(100).slice(7, 90));
    expect(whole).toEqual(pattern(100));
    expect(new TextDecoder().decode(text)).toBe(`padding${armor(part)}`);
  });

  it("ends with a space before the full stop if the last word is complete", () => {
    expect(armor(new Uint8Array(11))).toBe(`${HEADER} ${"0".repeat(15)} . ${FOOTER}\n`);
  });

  it("ends with a line break before the full stop if the last line is complete", () => {
    // 69 blocks and 24 bytes are 2,967 and 33 digits: 200 words of 15.
    const lines = armor(new Uint8Array(69 * 32 + 24)).split("\n");
    expect(lines).toEqual([`${HEADER}${` ${"0".repeat(15)}`.repeat(200)}`, `. ${FOOTER}`, ""]);
  });
});

describe("base62 that is not canonical", () => {
  const largest = (bytes: number) => naiveDigits(256n ** BigInt(bytes) - 1n, digitsFor(bytes));
  const tooLarge = (bytes: number) => naiveDigits(256n ** BigInt(bytes), digitsFor(bytes));

  it.each(Array.from({ length: 32 }, (_, index) => index + 1))(
    "a block of %i bytes that overflows by one is refused",
    (bytes) => {
      expect(dearmor(framed(largest(bytes)))).toEqual(new Uint8Array(bytes).fill(255));
      expect(() => dearmor(framed(tooLarge(bytes)))).toThrow(badArmor);
      expect(() => dearmor(framed("z".repeat(digitsFor(bytes))))).toThrow(badArmor);
      // As the last block, after a complete one.
      const whole = "0".repeat(43);
      expect(dearmor(framed(whole + largest(bytes)))).toEqual(new Uint8Array(32 + bytes).fill(255, 32));
      expect(() => dearmor(framed(whole + tooLarge(bytes)))).toThrow(badArmor);
      expect(() => dearmor(framed(tooLarge(32) + largest(bytes)))).toThrow(badArmor);
    },
  );

  it("an impossible length is refused", () => {
    const lengths = new Set(Array.from({ length: 33 }, (_, bytes) => digitsFor(bytes)));
    for (let length = 0; length <= 43; length += 1) {
      const [alone, behind] = [framed("0".repeat(length)), framed("0".repeat(43 + length))];
      if (lengths.has(length)) {
        expect(dearmor(alone).length + 32).toBe(dearmor(behind).length);
      } else {
        expect(() => dearmor(alone)).toThrow(badArmor);
        expect(() => dearmor(behind)).toThrow(badArmor);
      }
    }
    expect(lengths.size).toBe(33);
  });
});

describe("a frame", () => {
  const body = "00 0000";
  const bytes = new Uint8Array(4);

  it.each([
    ["without any space around the body", `${HEADER}${body}.${FOOTER}`],
    ["with a brand of digits", `BEGIN 1 SALTPACK ENCRYPTED MESSAGE. ${body}. END 1 SALTPACK ENCRYPTED MESSAGE.`],
    ["with the brand SALTPACK", framed(body).replaceAll("SALTPACK", "SALTPACK SALTPACK")],
    ["quoted twice", `>> ${framed(body).replaceAll(" ", "\n>> ")}`],
    ["of 512 characters", `${" ".repeat(512 - HEADER.length + 1)}${framed(body)}`],
    ["with a footer of 512 characters", `${HEADER} ${body}.${" ".repeat(512 - FOOTER.length + 1)}${FOOTER}`],
    ["with a megabyte of separators after it", `${framed(body)}${"> \t\r\n".repeat(200_000)}`],
  ])("is accepted %s", (_name, text) => {
    expect(dearmor(text)).toEqual(bytes);
    expect(dearmor(new TextEncoder().encode(text))).toEqual(bytes);
  });

  it.each([
    ["nothing", ""],
    ["only a full stop", "."],
    ["three full stops", "..."],
    ["only the body", body],
    ["of 513 characters", `${" ".repeat(512 - HEADER.length + 2)}${framed(body)}`],
    ["with a footer of 513 characters", `${HEADER} ${body}.${" ".repeat(512 - FOOTER.length + 2)}${FOOTER}`],
    ["that begins with END", framed(body).replace("BEGIN", "END")],
    ["that ends with BEGIN", framed(body).replace("END S", "BEGIN S")],
    ["with two brands", framed(body).replaceAll("SALTPACK", "A B SALTPACK")],
    ["with a brand of other characters", framed(body).replaceAll("SALTPACK", "A-B SALTPACK")],
    ["with brands of different case", framed(body).replace("SALTPACK", "A SALTPACK").replace("END", "END a")],
    ["without space between its words", framed(body).replaceAll("SALTPACK ", "SALTPACK")],
    ["with a no-break space", framed(body).replace("BEGIN ", "BEGIN\u00a0")],
    ["with a vertical tab", framed(body).replace("BEGIN ", "BEGIN\v")],
    ["after a byte order mark", `\ufeff${framed(body)}`],
    ["with a form feed in the body", framed(`${body}\f`)],
    ["with a letter of another script in the body", framed(`${body}\u0430`)],
    ["with a lone surrogate in the body", framed(`${body}\ud83d`)],
    ["with a full stop in the body", framed("00. 0000")],
    ["with a full stop after it", `${framed(body)}.`],
    ["with a NUL after it", `${framed(body)}\0`],
    ["twice", framed(body).repeat(2)],
  ])("is refused: %s", (_name, text) => {
    expect(() => dearmor(text)).toThrow(badArmor);
    expect(() => dearmor(new TextEncoder().encode(text))).toThrow(badArmor);
  });

  it("around random bytes is refused with a TwtxtError", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), fc.boolean(), (junk, isInside) => {
        const text = isInside ? Buffer.concat([Buffer.from(HEADER), junk, Buffer.from(`.${FOOTER}`)]) : junk;
        const outcome = outcomeOf(() => dearmor(text));
        if (!isInside || junk.some((byte) => !/[0-9A-Za-z> \t\r\n]/.test(String.fromCharCode(byte)))) {
          expect(outcome).toMatchObject({ code: "bad-armor" });
        }
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("armored text", () => {
  it("starts with ASCII, unlike a binary message", () => {
    const binary = vectors.flatMap(({ ciphertext_hex }) => (ciphertext_hex ? [hex(ciphertext_hex)] : []));
    expect(binary.length).toBeGreaterThan(10);
    expect(binary.filter(isArmored)).toEqual([]);
    expect(binary.map((bytes) => new TextEncoder().encode(armor(bytes))).every(isArmored)).toBe(true);
    expect(isArmored(new TextEncoder().encode("\n> BEGIN"))).toBe(true);
    expect(isArmored(new Uint8Array())).toBe(false);
    expect(isArmored(Uint8Array.of(0xc6, 0x42))).toBe(false);
  });
});

function pattern(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 167 + length * 31) % 256);
}

function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

/** From the specification: the smallest C with 256^B <= 62^C. */
function digitsFor(bytes: number): number {
  let digits = 0;
  while (62n ** BigInt(digits) < 256n ** BigInt(bytes)) digits += 1;
  return digits;
}

function naiveDigits(value: bigint, length: number): string {
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  let text = "";
  for (let rest = value; text.length < length; rest /= 62n) text = `${alphabet[Number(rest % 62n)]}${text}`;
  return text;
}

/** Like the reference encoder: a separator follows each complete word. */
function naiveArmor(bytes: Uint8Array): string {
  let digits = "";
  for (let at = 0; at < bytes.length; at += 32) {
    const block = bytes.subarray(at, at + 32);
    digits += naiveDigits(BigInt(`0x${Buffer.from(block).toString("hex")}`), digitsFor(block.length));
  }
  const words = digits.match(/.{1,15}/g) ?? [];
  const body = words.map((word, index) => {
    if (word.length < 15) return word;
    return word + ((index + 1) % 200 === 0 ? "\n" : " ");
  });
  return framed(body.join(""));
}
