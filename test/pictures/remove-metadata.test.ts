import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TwtxtError } from "../../plugin/errors.js";
import { readOrientation } from "../../plugin/pictures/orientation.js";
import { removeMetadata } from "../../plugin/pictures/remove-metadata.js";

// The files are pictures of 24 by 16 pixels with "SECRET" wherever their format can hold metadata.
const FILES = new URL("files/", import.meta.url);
const names = readdirSync(FILES).sort();
const file = (name: string) => readFileSync(new URL(name, FILES));
const cleaned = (name: string) => Buffer.from(removeMetadata(file(name), name).bytes);

/** The parts of each file that its picture needs to look the same. */
const NEEDED: Record<string, string[]> = {
  "phone.jpg": ["JFIF", "ICC_PROFILE"],
  "progressive.jpg": ["JFIF"],
  "text.png": ["IHDR", "pHYs", "IDAT"],
  "animated.png": ["acTL", "fcTL", "fdAT"],
  "lossy.webp": ["VP8X", "ICCP", "VP8 "],
  "lossless.webp": ["VP8X", "VP8L"],
  "plain.webp": ["VP8 "],
  "animated.webp": ["VP8X", "ANIM", "ANMF", "VP8"],
  "animated.gif": ["GIF89a", "NETSCAPE2.0"],
};

describe("the metadata of a picture", () => {
  it.each(names)("is removed, and the parts of the picture stay: %s", (name) => {
    const { bytes, type, extension } = removeMetadata(file(name), name);
    const text = Buffer.from(bytes).toString("latin1");
    expect(text).not.toMatch(/SECRET|GPS|xmp|2026:|tIME|tEXt|iTXt|8BIM/);
    expect(NEEDED[name]?.filter((part) => !text.includes(part))).toEqual([]);
    expect(name.endsWith(extension)).toBe(true);
    expect(type).toBe(`image/${extension.slice(1).replace("jpg", "jpeg")}`);
  });

  it("is in the test files", () => {
    const marked = names.filter((name) => file(name).includes("SECRET"));
    expect(marked).toEqual(names.filter((name) => !["animated.png", "plain.webp"].includes(name)));
  });

  it.each(names)("is removed completely: a second removal changes nothing: %s", (name) => {
    expect(removeMetadata(cleaned(name), name).bytes).toEqual(cleaned(name));
  });

  it.each([
    ["phone.jpg", 6, "Exif\0\0", 6],
    ["text.png", 8, "eXIf", 4],
    ["lossy.webp", 3, "EXIF", 8],
  ])("is removed except the orientation, the only Exif field left: %s", (name, orientation, mark, length) => {
    const bytes = cleaned(name);
    const exif = bytes.subarray(bytes.indexOf(mark) + length);
    expect(readOrientation(exif)).toBe(orientation);
    expect(exif.readUInt16BE(8)).toBe(1);
    expect(bytes.indexOf(mark, bytes.indexOf(mark) + 1)).toBe(-1);
  });

  it("is removed without a change of the pixels of a JPEG, and with everything after its end", () => {
    const [before, after] = [file("phone.jpg"), cleaned("phone.jpg")];
    const scan = Buffer.from([0xff, 0xda]);
    const end = Buffer.from([0xff, 0xd9]);
    expect(after.subarray(after.indexOf(scan))).toEqual(
      before.subarray(before.indexOf(scan), before.indexOf(end, before.indexOf(scan)) + 2),
    );
  });

  it("is not announced in the header of a cleaned WebP picture", () => {
    const flagsOf = (name: string) => cleaned(name).at(cleaned(name).indexOf("VP8X") + 8);
    expect([flagsOf("lossless.webp"), flagsOf("animated.webp")]).toEqual([0, 0x02]);
    expect(flagsOf("lossy.webp")).toBe(0x28);
    for (const name of ["lossless.webp", "animated.webp", "lossy.webp"]) {
      expect(cleaned(name).readUInt32LE(4)).toBe(cleaned(name).length - 8);
    }
  });
});

it.each(names)("removing metadata does not change its input: %s", (name) => {
  const bytes = file(name);
  removeMetadata(bytes, name);
  expect(bytes.equals(file(name))).toBe(true);
});

const OTHER =
  "photo is not a picture in the format JPEG, PNG, WebP or GIF. Choose one, or save yours in one of these formats.";

describe("a file that is not a complete picture", () => {
  it.each(names)("is refused with a message, wherever it is truncated: %s", (name) => {
    const whole = file(name);
    const length = whole.length - ("SECRET trailer".length + 12);
    for (let end = 13; end < length; end += 7) {
      if (refusalOf(whole.subarray(0, end)) === null) throw new Error(`${name} was accepted with ${end} bytes.`);
    }
    expect(refusalOf(whole.subarray(0, length >> 1))).toBe(
      "photo is damaged or incomplete. Open it in a picture editor, save it again, then add it.",
    );
  });

  it("is accepted or refused with a message, whatever its bytes are", () => {
    const random = fc.tuple(fc.constantFrom(...names), fc.array(fc.tuple(fc.nat(2000), fc.nat(255)), { maxLength: 8 }));
    fc.assert(
      fc.property(random, ([name, changes]) => {
        const bytes = Buffer.from(file(name));
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        refusalOf(bytes);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    [
      "a HEIC picture",
      "\0\0\0\x18ftypheic",
      "photo is a HEIC picture, which most browsers do not show. Save it as JPEG, PNG or WebP, then add it again.",
    ],
    [
      "an AVIF picture",
      "\0\0\0\x18ftypavif",
      "photo is an AVIF picture, whose location data cannot be removed. Save it as JPEG, PNG or WebP, then add it again.",
    ],
    [
      "an SVG drawing",
      '<?xml version="1.0"?>\n<svg onload="alert(1)"/>',
      "photo is an SVG drawing, which may contain scripts. Save it as JPEG, PNG or WebP, then add it again.",
    ],
    ["an HTML page", "<!doctype html><p>", OTHER],
    ["a TIFF picture", "II*\0\x08\0\0\0", OTHER],
    ["an empty file", "", "photo is empty. Choose another file."],
  ])("is refused with a message about its type: %s", (_, text, message) => {
    expect(refusalOf(Buffer.from(text, "latin1"))).toBe(message);
  });
});

/** The message of the error; `null` if the file is accepted. */
function refusalOf(bytes: Uint8Array): string | null {
  try {
    removeMetadata(bytes, "photo");
    return null;
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    expect(error.code).toBe("bad-file");
    return error.message;
  }
}
