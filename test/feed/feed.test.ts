import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatFeed, parseFeed } from "../../plugin/feed/feed.js";
import { findTwts } from "../../plugin/feed/find-twts.js";
import { findMentions } from "../../plugin/feed/mention.js";
import { formatTimestamp, toInstant } from "../../plugin/feed/timestamp.js";
import { cleanText } from "../../plugin/feed/twt.js";
import { anyCharacter } from "../helpers/any-character.js";
import { runs } from "../helpers/runs.js";

interface Case {
  name: string;
  feed: string;
  twts: { timestamp: string; text: string; instant: string }[];
  fields?: Record<string, string[]>;
  mentions?: { nick: string | null; url: string }[];
  subject?: string;
  skippedLines: number;
}
const { cases } = JSON.parse(readFileSync(new URL("../vectors/feed-lines.json", import.meta.url), "utf8")) as {
  cases: Case[];
};

describe("parsing the unusual feeds of the vectors", () => {
  it.each(cases)("$name", ({ feed, twts, fields, mentions, subject, skippedLines }) => {
    for (const input of [feed, new TextEncoder().encode(feed)]) {
      const parsed = parseFeed(input);
      expect(parsed.twts.map(({ timestamp, text, instant }) => ({ timestamp, text, instant }))).toEqual(twts);
      expect(parsed.skippedLines).toBe(skippedLines);
      if (fields) expect(parsed.fields).toEqual(fields);
      if (mentions) expect(parsed.twts[0]?.mentions).toEqual(mentions);
      if (subject) expect(parsed.twts[0]?.subject).toBe(subject);
    }
  });
});

const instants = fc
  .date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true })
  .map((date) => formatTimestamp(date));

/** Any UTF-16, most often text that could forge a line, a field or a twt. */
const texts = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 }).map((units) => String.fromCharCode(...units)),
      fc.constantFrom(
        "\t",
        "\n",
        "\r\n",
        "\r",
        "\u2028",
        "\u2029",
        "\u0085",
        "\v",
        "\f",
        "\ufeff",
        "\ud800",
        "\udc00",
        "# nick = eve",
      ),
      fc.constant("2024-01-02T03:04:05Z\tforged"),
      fc.constantFrom("@<bob https://bob.example/t.txt>", "`", "(#abcdefg)", "[", "](", "@<"),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(""));

describe("any feed", () => {
  it("is parsed into the twts that were written, whatever their texts and dates", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ timestamp: instants, text: texts }), { selector: (twt) => twt.timestamp }),
        (twts) => {
          const written = twts
            .map(({ timestamp, text }) => ({ timestamp, text: cleanText(text) }))
            .filter(({ text }) => text !== "")
            .sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
          const feed = parseFeed(formatFeed({ fields: { nick: ["alice"] }, twts }));
          expect(feed.twts.map(({ timestamp, text }) => ({ timestamp, text }))).toEqual(written);
          expect(feed.fields).toEqual({ nick: ["alice"] });
          expect(feed.skippedLines).toBe(0);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it("has one line for each text: no text can add a twt, a field or a TAB", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const lines = formatFeed({ fields: {}, twts: [{ timestamp: "2024-01-02T03:04:05Z", text }] }).split("\n");
        expect(lines.length).toBe(cleanText(text) === "" ? 2 : 3);
        expect((lines[1] ?? "").split("\t").length).toBe(cleanText(text) === "" ? 1 : 2);
        expect(lines.join("")).not.toMatch(/[\x00-\x08\x0a-\x1f\x7f-\x9f\u2029]/);
      }),
      { numRuns: runs(300) },
    );
  });

  it("is parsed without an error, with the same result from bytes and from text", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), texts, (bytes, text) => {
        expect(parseFeed(bytes)).toEqual(parseFeed(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)));
        const feed = parseFeed(text);
        expect(feed.twts.every((twt) => twt.text !== "" && !twt.text.includes("\n"))).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });

  // In quadratic time, each would exceed the timeout of the test by far.
  it.each([
    ["no TAB anywhere", `${"x".repeat(100)}\n`, ""],
    ["open mentions", "2024-01-02T03:04:05Z\t", "@<a "],
    ["open code", "2024-01-02T03:04:05Z\t", "`@<"],
    ["backticks of many lengths", "2024-01-02T03:04:05Z\t", "``a`"],
    ["escaped backticks", "2024-01-02T03:04:05Z\t", "\\`@<"],
    ["open links", "2024-01-02T03:04:05Z\t", "[](a"],
    ["closed links around mentions", "2024-01-02T03:04:05Z\t", "[@<b https://b.example/>](x) "],
    ["unclosed subjects", "2024-01-02T03:04:05Z\t", "@<b> "],
    ["spaces in a field", "# a =", " \t"],
    ["spaces before the `=` of a field", "# a", " "],
    ["comments", "", "# a = b\n"],
    ["an unclosed link", "2024-01-02T03:04:05Z\t@<[](", "a"],
    ["a link of many parentheses", "2024-01-02T03:04:05Z\t@<[](", "(a)"],
    ["equal twts", "", "2024-01-02T03:04:05Z\tsame\n"],
  ])("is read in linear time: %s", (_name, head, piece) => {
    const size = 2_000_000;
    const feed = piece === "" ? head.repeat(size / head.length) : head + piece.repeat(size / piece.length);
    expect(parseFeed(feed).twts.length).toBeLessThanOrEqual(1);
  });
});

describe("a header", () => {
  it("has its fields in the order that other clients expect, with one space on each side of `=`", () => {
    const fields = {
      prev: ["abcdefg twtxt-2024.txt"],
      follow: ["bob https://b.example/t.txt", "eve https://e.example/t.txt"],
      nick: ["alice"],
      webmention: ["https://a.example/wm"],
      url: ["https://a.example/twtxt.txt"],
      description: ["Hi"],
    };
    expect(formatFeed({ fields, twts: [] })).toBe(
      "# nick = alice\n# url = https://a.example/twtxt.txt\n# webmention = https://a.example/wm\n# description = Hi\n# follow = bob https://b.example/t.txt\n# follow = eve https://e.example/t.txt\n# prev = abcdefg twtxt-2024.txt\n\n",
    );
  });

  it.each([
    ["a line break", "a\nb"],
    ["U+2028", "a\u2028b"],
    ["a hash sign", "a # b"],
    ["another field", "webmention = https://evil.example/"],
    ["no text", ""],
  ])("refuses a value with %s", (_name, value) => {
    expect(() => formatFeed({ fields: { description: [value] }, twts: [] })).toThrow(
      expect.objectContaining({ code: "bad-field" }),
    );
  });

  it("refuses a repeated field, and a line of 64 KiB, which stops a registry", () => {
    const twice = { fields: { url: ["https://a.example/", "https://b.example/"] }, twts: [] };
    expect(() => formatFeed(twice)).toThrow(expect.objectContaining({ code: "bad-field" }));
    const withText = (text: string) => ({ fields: {}, twts: [{ timestamp: "2024-01-02T03:04:05Z", text }] });
    const room = 65_536 - "2024-01-02T03:04:05Z\t\n".length;
    for (const text of ["x".repeat(65_536), "x".repeat(room), "ä".repeat(room / 2)]) {
      expect(() => formatFeed(withText(text))).toThrow(expect.objectContaining({ code: "too-large" }));
    }
    expect(formatFeed(withText("x".repeat(room - 1)))).toHaveLength("\n".length + 65_535);
  });

  it("is followed by twts in UTC and whole seconds, whatever the format of their timestamps", () => {
    const twts = [{ timestamp: "2024-01-02t03:04:05.5+01", text: "x" }];
    expect(formatFeed({ fields: {}, twts })).toBe("\n2024-01-02T02:04:05Z\tx\n");
  });

  it("refuses an unknown field", () => {
    expect(() => formatFeed({ fields: { shoe: ["42"] } as never, twts: [] })).toThrow(
      expect.objectContaining({ code: "bad-field" }),
    );
  });

  it("can have a field with the name of a property of JavaScript objects", () => {
    const { fields } = parseFeed("# __proto__ = a\n# constructor = b\n");
    expect(Object.entries(fields)).toEqual([
      ["__proto__", ["a"]],
      ["constructor", ["b"]],
    ]);
  });
});

describe("finding a twt by its time", () => {
  const feed =
    "# nick = a\n2024-01-02T03:04:05Z\tone\n2024-01-02T04:04:05+01:00\ttwo\n2024-01-02T03:04:05Z\tthree\n2024-01-02T03:04:06.5Z\tfour\n";

  it.each([
    ["the same text first", "2024-01-02T03:04:05Z", ["one", "three"]],
    ["the same text with an offset", "2024-01-02T04:04:05+01:00", ["two"]],
    ["the same second if no text is the same", "2024-01-02T05:04:05+02:00", ["one", "two", "three"]],
    ["the same second with another fraction", "2024-01-02T03:04:06Z", ["four"]],
    ["none", "2024-01-02T03:04:07Z", []],
    ["none for a word", "yesterday", []],
  ])("finds %s", (_name, timestamp, found) => {
    for (const input of [feed, new TextEncoder().encode(`\ufeff${feed}`)]) {
      expect(findTwts(input, timestamp).map(({ text }) => text)).toEqual(found);
    }
  });

  it("finds the same twts as parsing the whole feed", () => {
    const seconds = fc.constantFrom(
      "2024-01-02T03:04:05Z",
      "2024-01-02T03:04Z",
      "2024-01-02T04:04:05+01:00",
      "2024-01-02T03:04:00Z",
      "2024-01-02t03:04:05z",
      "word",
    );
    const line = fc
      .tuple(seconds, fc.constantFrom("\t", " ", "\taZ\t", "\t\ud800"), texts)
      .map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), seconds, fc.constantFrom("\n", "\r\n"), (lines, timestamp, end) => {
        const feed = lines.join(end);
        const { twts } = parseFeed(feed);
        const literal = twts.filter((twt) => twt.timestamp === timestamp);
        const expected = literal.length > 0 ? literal : twts.filter((twt) => twt.instant === toInstant(timestamp));
        expect(findTwts(feed, timestamp)).toEqual(timestamp === "word" ? [] : expected);
      }),
      { numRuns: runs(500) },
    );
  });

  it("has a header of the fields before its first twt, even if they are repeated later", () => {
    const { header, fields } = parseFeed(
      "# webmention = https://a.example/\n2024-01-02T03:04:05Z\thi\n# webmention = https://b.example/\n# nick = eve\n",
    );
    expect(header).toEqual({ webmention: ["https://a.example/"] });
    expect(fields).toEqual({ webmention: ["https://a.example/", "https://b.example/"], nick: ["eve"] });
  });

  it("does not treat a byte order mark inside a feed as its start", () => {
    const feed = "2024-01-02T03:04:00Z\tfirst\n\ufeff2024-01-02T03:04:05Z\tforged\n";
    expect(findTwts(feed, "2024-01-02T03:04:05Z")).toEqual([]);
    expect(findTwts("\ufeff2024-01-02T03:04:05Z\ttrue\n", "2024-01-02T04:04:05+01:00")).toHaveLength(1);
  });

  it("finds no twt inside a text", () => {
    expect(findTwts("2024-01-01T00:00:00Z\tx 2024-01-02T03:04:05Z\tforged\n", "2024-01-02T03:04:05Z")).toEqual([]);
  });
});

describe("mentions", () => {
  const bob = { nick: "bob", url: "https://bob.example/twtxt.txt" };
  const wire = "@<bob https://bob.example/twtxt.txt>";

  it.each([
    ["after a single backtick", `a \` ${wire}`, [bob]],
    ["in a code span of two backticks", `\`\`a \` ${wire}\`\``, []],
    ["in a code block", `\`\`\`js\u2028${wire}\u2028\`\`\` then ${wire}`, [bob]],
    ["in a block fenced by tildes", `~~~\u2028${wire}\u2028~~~\u2028${wire}`, [bob]],
    ["after an escaped backtick", `\\\`a ${wire} \``, [bob]],
    ["in a link's text", `[hi ${wire}](https://x.example/a) ${wire}`, [bob]],
    ["in brackets that are not a link", `[hi ${wire}] (x)`, [bob]],
    ["directly before a word", `${wire}bar`, [bob]],
    ["inside another mention", `@<a ${wire}>`, []],
    ["after a quoted opening", `\`@<\` and ${wire}`, [bob]],
    ["with parentheses in the URL", "@<b https://b.example/a_(b)>", [{ nick: "b", url: "https://b.example/a_(b)" }]],
    ["of a gopher feed", "@<b gopher://b.example/0/t>", [{ nick: "b", url: "gopher://b.example/0/t" }]],
    ["directly after a non-ASCII letter", `é${wire}`, []],
  ])("%s", (_name, text, mentions) => {
    expect(findMentions(text)).toEqual(mentions);
  });
});
