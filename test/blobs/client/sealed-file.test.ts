import { describe, expect, it } from "vitest";
import { formatSealedFile, parseSealedFile } from "../../../plugin/blobs/client/sealed-file.js";

describe("the content of a sealed blob", () => {
  it.each([
    ["a file", "plan.pdf", Buffer.from("%PDF\n\n")],
    ["no bytes and no name", "", Buffer.alloc(0)],
    ["the longest name in any script", "好".repeat(255), Buffer.from([0, 255, 10])],
  ])("is %s", (_, filename, bytes) => {
    const file = { filename, type: "application/pdf", bytes };
    const read = parseSealedFile(formatSealedFile(file));
    expect({ ...read, bytes: Buffer.from(read.bytes) }).toEqual(file);
  });

  it("starts with a line of JSON", () => {
    const text = formatSealedFile({ filename: 'a"b.txt', type: "text/plain", bytes: Buffer.from("hello") });
    expect(Buffer.from(text).toString()).toBe('{"filename":"a\\"b.txt","type":"text/plain"}\nhello');
  });

  it.each([
    ["no line break", "hello"],
    ["nothing", ""],
    ["a line that is not JSON", "hello\nworld"],
    ["a path", '{"filename":"../a","type":"text/plain"}\n'],
    ["a name with a line break", '{"filename":"a\\nb","type":"text/plain"}\n'],
    ["no type", '{"filename":"a"}\n'],
    ["no filename", '{"type":"text/plain"}\n'],
    ["a filename that is not a string", '{"filename":7,"type":"text/plain"}\n'],
    ["null", "null\n"],
    ["a line without an end", `{"filename":"a","type":"text/plain"${" ".repeat(4000)}}\n`],
  ])("is refused with bad-message: %s", (_, text) => {
    expect(() => parseSealedFile(Buffer.from(text))).toThrow(expect.objectContaining({ code: "bad-message" }));
  });
});
