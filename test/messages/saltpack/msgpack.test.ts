import { describe, expect, it } from "vitest";
import { arrayHead, binHead, MessagePackReader } from "../../../plugin/messages/saltpack/msgpack.js";
import { hex, utf8 } from "./vectors.js";

const badMessage = expect.objectContaining({ code: "bad-message" });
const reader = (text: string) => new MessagePackReader(hex(text.replaceAll(" ", "")));

describe("reading MessagePack", () => {
  it.each([
    ["00", 0],
    ["7f", 127],
    ["cc 80", 128],
    ["cc 03", 3],
    ["cd 01 00", 256],
    ["ce ff ff ff ff", 2 ** 32 - 1],
    ["cf 00 00 00 01 00 00 00 00", 2 ** 32],
  ])("reads an integer: %s", (text, number) => {
    const read = reader(text);
    expect(read.uint()).toBe(number);
    expect(read.isAtEnd()).toBe(true);
  });

  it.each([
    ["90", 0],
    ["9f", 15],
    ["dc 00 02", 2],
    ["dd 3b 9a ca 00", 1_000_000_000],
  ])("reads the start of an array of any claimed length: %s", (text, count) => {
    expect(reader(text).array()).toBe(count);
  });

  it.each(["c4 02 aa bb", "c5 00 02 aa bb", "c6 00 00 00 02 aa bb"])(
    "reads bytes with a length in any form: %s",
    (text) => {
      expect(reader(text).bin()).toEqual(Uint8Array.of(0xaa, 0xbb));
    },
  );

  it.each(["a2 68 69", "d9 02 68 69", "da 00 02 68 69", "db 00 00 00 02 68 69"])("reads text: %s", (text) => {
    expect(reader(text).text()).toBe("hi");
  });

  it("reads a boolean, and rejects other types", () => {
    expect(reader("c3").boolean()).toBe(true);
    expect(reader("c2").boolean()).toBe(false);
    for (const other of ["00", "01", "c0", "90", "a0", "c4 00", "cc 01", "d0 01"]) {
      expect(() => reader(other).boolean()).toThrow(badMessage);
    }
  });

  it.each([
    ["an array for bytes", () => reader("92 01 02").bin()],
    ["text for bytes", () => reader("a2 68 69").bin()],
    ["bytes for text", () => reader("c4 02 68 69").text()],
    ["a map for an array", () => reader("81 01 02").array()],
    ["a negative integer", () => reader("ff").uint()],
    ["a float for an integer", () => reader("cb 40 08 00 00 00 00 00 00").uint()],
    ["the unused type", () => reader("c1").uint()],
    ["no input", () => reader("").uint()],
    ["a truncated length", () => reader("c5 00").bin()],
    ["a length beyond the input", () => reader("c6 ff ff ff ff 00").bin()],
  ])("refuses %s", (_name, read) => {
    expect(read).toThrow(badMessage);
  });

  const objects = [
    "00 e0 c0 c2 c3",
    "80 82 01 02 03 04 de 00 01 01 02 df 00 00 00 01 01 02",
    "93 01 91 92 01 02 03 dc 00 01 01 dd 00 00 00 01 01",
    "a1 61 d9 01 61 da 00 01 61 db 00 00 00 01 61",
    "c4 01 00 c5 00 01 00 c6 00 00 00 01 00",
    "c7 02 01 00 00 c8 00 01 01 00 c9 00 00 00 01 01 00",
    "ca 00 00 00 00 cb 00 00 00 00 00 00 00 00",
    "cc 00 cd 00 00 ce 00 00 00 00 cf 00 00 00 00 00 00 00 00",
    "d0 00 d1 00 00 d2 00 00 00 00 d3 00 00 00 00 00 00 00 00",
    "d4 01 00 d5 01 00 00 d6 01 00 00 00 00 d7 01 00 00 00 00 00 00 00 00",
    "d8 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
  ];
  const counts = [5, 4, 3, 4, 3, 3, 2, 4, 4, 4, 1];

  it.each(objects.map((text, index) => [text, counts[index] ?? 0] as const))("skips objects: %s", (text, count) => {
    const read = reader(`${text} 2a`);
    read.skip(count);
    expect(read.uint()).toBe(42);
    expect(() => reader(text).skip(count + 1)).toThrow(badMessage);
  });

  it("skips objects of any depth", () => {
    const deep = new Uint8Array(1_000_000).fill(0x91);
    deep[deep.length - 1] = 0xc0;
    const read = new MessagePackReader(deep);
    read.skip(1);
    expect(read.isAtEnd()).toBe(true);
  });
});

describe("writing MessagePack", () => {
  it.each([
    [0, "90"],
    [15, "9f"],
    [16, "dc0010"],
    [64, "dc0040"],
  ])("an array of %i", (count, head) => {
    expect(arrayHead(count)).toEqual(hex(head));
  });

  it.each([
    [0, "c400"],
    [255, "c4ff"],
    [256, "c50100"],
    [65_535, "c5ffff"],
    [65_536, "c600010000"],
    [2 ** 20 + 80, "c600100050"],
  ])("%i bytes", (size, head) => {
    expect(binHead(size)).toEqual(hex(head));
  });

  it("is the inverse of reading", () => {
    const read = new MessagePackReader(Uint8Array.of(...arrayHead(1), ...binHead(2), ...utf8("hi")));
    expect(read.array()).toBe(1);
    expect(read.bin()).toEqual(utf8("hi"));
  });
});
