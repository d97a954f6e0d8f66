import { describe, expect, it } from "vitest";
import { detectMediaType } from "../../plugin/author/blobs/file-contents.js";
import { PNG } from "./blob-author.js";

/** A ZIP archive with one empty file, `a`. */
const ZIP = Buffer.from(
  "504b03040a00000000000000210000000000000000000000000001000000" +
    "61504b01021e030a000000000000002100000000000000000000000000010000000000000000000000a4810000000061" +
    "504b050600000000010001002f0000001f0000000000",
  "hex",
);
const TEXT = Buffer.from("hello");

describe("the media type of a file", () => {
  it.each([
    ["a.png", PNG, true, "image/png"],
    ["a.jpg", PNG, false, "image/png"],
    ["", PNG, false, "image/png"],
    ["a.zip", ZIP, false, "application/zip"],
    ["a.odt", ZIP, false, "application/vnd.oasis.opendocument.text"],
    ["", ZIP, false, "application/zip"],
    ["a.svg", Buffer.from('<?xml version="1.0"?><svg/>'), true, "image/svg+xml"],
    ["A.TXT", TEXT, true, "text/plain; charset=utf-8"],
    ["a.md", TEXT, true, "text/markdown; charset=utf-8"],
    ["a.txt", Buffer.from([0xfc]), false, "text/plain"],
    ["a.json", TEXT, true, "application/json"],
    ["README", TEXT, true, "application/octet-stream"],
    ["", Buffer.alloc(0), true, "application/octet-stream"],
  ])("of %j", async (filename, start, isUtf8, expected) => {
    expect(await detectMediaType(filename, { start, isUtf8 })).toBe(expected);
  });
});
