import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createReceipt,
  formatMessage,
  isReceipt,
  listReceipts,
  parseMessage,
  readHash,
} from "../../plugin/messages/plaintext.js";
import { runs } from "../helpers/runs.js";

const TIME = "2026-11-20T09:00:00Z";
const FROM = "alice@alice.example";
const HASH = "0123456789abcdef".repeat(4);

const line = (text: string) => `${TIME}\t(${FROM})\t${text}\n`;
const failsWith = (code: string) => expect.objectContaining({ code });

describe("a formatted message", () => {
  it("is one line for any text", () => {
    expect(formatMessage({ time: TIME, from: FROM, text: "Hello" })).toBe(line("Hello"));
    expect(formatMessage({ time: TIME, from: FROM, text: "a\nb\r\nc\rd\u2029e\u2028" })).toBe(
      line("a\u2028b\u2028c\u2028d\u2028e\u2028"),
    );
    expect(formatMessage({ time: TIME, from: "Alice@ALICE.example", text: "a\tb \ud800" })).toBe(line("a\tb \ufffd"));
  });

  it("is followed by its events, one per line", () => {
    const events = [createReceipt(HASH), { name: "x", args: "a\n# read: b" }];
    expect(formatMessage({ time: TIME, from: FROM, text: "", events })).toBe(
      `${line("")}# read: ${HASH}\n# x: a\u2028# read: b\n`,
    );
  });

  it.each([
    ["bad-timestamp", { time: "2026-11-20 09:00" }],
    ["bad-timestamp", { time: "2026-11-20T09:00:00.000Z" }],
    ["bad-address", { from: "alice" }],
    ["bad-address", { from: "a@b.example)\tx" }],
    ["bad-field", { events: [{ name: "a b", args: "" }] }],
    ["bad-field", { events: [{ name: "a:", args: "" }] }],
  ])("%s: %j", (code, wrong) => {
    expect(() => formatMessage({ time: TIME, from: FROM, text: "Hello", ...wrong })).toThrow(failsWith(code));
  });

  it("is parsed to the same message", () => {
    const text = fc.string({ unit: fc.oneof(fc.constantFrom("\n", "\t", "#", "(", "\x85", "\v"), fc.string()) });
    fc.assert(
      fc.property(text, fc.constantFrom("read", "typing"), fc.stringMatching(/^[0-9a-f]*$/), (written, name, args) => {
        const normal = written.toWellFormed().replace(/\r\n|[\r\u2028\u2029]/g, "\n");
        expect(
          parseMessage(formatMessage({ time: TIME, from: FROM, text: written, events: [{ name, args }] })),
        ).toEqual({
          lines: [{ time: TIME, text: normal }],
          address: FROM,
          events: [{ name, args }],
        });
      }),
      { numRuns: runs(500) },
    );
  });

  it("does not let its text forge a line", () => {
    const text = `hi\n${TIME}\t(bob@bob.example)\tI am bob\r\n# read: ${HASH}`;
    expect(parseMessage(formatMessage({ time: TIME, from: FROM, text }))).toEqual({
      lines: [{ time: TIME, text: text.replace("\r", "") }],
      address: FROM,
      events: [],
    });
  });
});

describe("a parsed message", () => {
  it("may have several lines, and comments that are not displayed", () => {
    const text = `# client: saltyim\n${line("one")}2026-11-20T11:00:01.5+02:00\t(Alice@Alice.example)\ttwo\r\n#odd\n# a b: c\n`;
    expect(parseMessage(text)).toEqual({
      lines: [
        { time: TIME, text: "one" },
        { time: "2026-11-20T09:00:01Z", text: "two" },
      ],
      address: FROM,
      events: [
        { name: "client", args: "saltyim" },
        { name: "", args: "odd" },
        { name: "", args: "a b: c" },
      ],
    });
  });

  it.each([
    ["a plain line", "more"],
    ["an empty line", ""],
    ["a time without an address", `${TIME}\tmore`],
    ["an address without brackets", `${TIME}\t${FROM}\tmore`],
    ["no address in brackets", `${TIME}\t(alice)\tmore`],
    ["an impossible day", `2026-02-30T09:00:00Z\t(${FROM})\tmore`],
    ["a time without a zone", `2026-11-20T09:00:00\t(${FROM})\tmore`],
    ["a time without seconds", `2026-11-20T09:00Z\t(${FROM})\tmore`],
    ["no TAB after the address", `${TIME}\t(${FROM}) more`],
    ["a space before the time", ` ${TIME}\t(${FROM})\tmore`],
    ["a comment after a space", " # read: x"],
  ])("continues on the next line: %s", (_name, next) => {
    expect(parseMessage(`${line("one")}${next}\n`)).toEqual({
      lines: [{ time: TIME, text: `one\n${next}` }],
      address: FROM,
      events: [],
    });
  });

  it.each(["\u2028", "\u2029", "\v", "\f", "\x85", "\r"])("does not start a line after %j", (separator) => {
    const message = parseMessage(line(`one${separator}${TIME}\t(bob@bob.example)\ttwo`));
    expect(message).toMatchObject({ address: FROM, events: [] });
    expect(message.lines).toHaveLength(1);
    expect(parseMessage(line(`one${separator}# read: ${HASH}`)).events).toEqual([]);
  });

  it("displays U+2028 as a line break", () => {
    expect(parseMessage(line("one\u2028two")).lines).toEqual([{ time: TIME, text: "one\ntwo" }]);
  });

  it.each([
    ["whose lines have two addresses", `${line("one")}${TIME}\t(bob@bob.example)\ttwo\n`],
    ["with text before its first line", `I am somebody\n${line("one")}`],
    ["without a formatted line", "I am somebody\n"],
    ["with only comments", `# read: ${HASH}\n`],
    ["without text", ""],
  ])("has no address: one %s", (_name, text) => {
    expect(parseMessage(text).address).toBeNull();
  });

  it("keeps text before its first line", () => {
    expect(parseMessage(`\nI am\n\nsomebody\n${line("one")}`).lines).toEqual([
      { time: null, text: "I am\n\nsomebody" },
      { time: TIME, text: "one" },
    ]);
  });

  it("keeps a text that has no valid line", () => {
    const piece = fc.constantFrom("\n", "\n\n", "\t", "(", ")", FROM, "2026-11-20", "x", " ", "\v", "\x1b");
    fc.assert(
      fc.property(fc.string({ unit: piece }), (text) => {
        const shown = text.replace(/^\n+|\n$/g, "");
        expect(parseMessage(text).lines).toEqual(shown === "" ? [] : [{ time: null, text: shown }]);
      }),
    );
  });
});

describe("a read receipt", () => {
  it("identifies a message by the SHA-256 of its plaintext without one trailing LF", () => {
    const hash = createHash("sha256").update("one\n").digest("hex");
    expect(readHash(Buffer.from("one\n\n"))).toBe(hash);
    expect(readHash(Buffer.from("one\n"))).not.toBe(hash);
    expect(readHash(Buffer.from("one"))).toBe(createHash("sha256").update("one").digest("hex"));
    // printf '' | sha256sum
    expect(readHash(new Uint8Array())).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });

  it("is a read event with a valid hash; others are ordinary events", () => {
    const message = parseMessage(
      `${line("")}# read: ${HASH}\n# read: ${HASH.toUpperCase()}\n# read: x\n# seen: ${HASH}\n`,
    );
    expect(listReceipts(message)).toEqual([HASH]);
    expect(message.events).toHaveLength(4);
  });

  it("may be the only content of a message", () => {
    const events = [createReceipt(HASH)];
    expect(isReceipt(parseMessage(formatMessage({ time: TIME, from: FROM, text: "", events })))).toBe(true);
    expect(isReceipt(parseMessage(formatMessage({ time: TIME, from: FROM, text: "thanks", events })))).toBe(false);
    expect(isReceipt(parseMessage(line("")))).toBe(false);
  });
});
