import { beforeAll, describe, expect, it } from "vitest";
import { parseFeed } from "../../plugin/feed/feed.js";
import { findMentions, locateMentions } from "../../plugin/feed/mention.js";
import { adjustForPeers } from "../../plugin/feed/peers.js";
import { type BuiltSite, site } from "../helpers/site.js";
import { quoted } from "./read-build.js";

const BOB = "https://bob.example/twtxt.txt";

/** Texts that some client misread. Each is used as a title, as text in the front matter and as a note. */
const AWKWARD = [
  "(open, and never closed",
  "ends in [",
  "somebody at @user@host",
  "a path https://x.example\\",
  "half a link [text](foo",
  'a titled link [text](https://x.example/ "title")',
  "a lone ` backtick",
  "tab\there, line\nend, return\r\nand\rmore",
  "controls \u000b\u000c\u001c\u001d\u001e\u0085\u0000 inside",
  "\u2028\u2029 separators at the start \u2028",
  "\ufeffa byte order mark",
  "half a pair \ud800 of surrogates",
  "2024-01-02T03:04:05Z\tforged",
  "webmention = https://evil.example/",
  "# nick = eve",
  `(@<bob ${BOB}>) "@<bob ${BOB}>" x:@<bob ${BOB}>, *@<bob ${BOB}>*`,
  `@<${BOB}> without a nick`,
  "@bob by nick (@bob)",
  "x".repeat(70_000),
  `${"word ".repeat(14_000)}@<bob ${BOB}>`,
];

describe("the feed, for parsers of other clients", () => {
  let built: BuiltSite;
  let files: { bytes: Buffer; text: string; twtLines: string[]; texts: string[] }[];

  beforeAll(async () => {
    const at = (minute: number) =>
      new Date(Date.parse("2020-01-01T00:00:01Z") + minute * 86_400_000 * 40).toISOString();
    const posts = AWKWARD.flatMap((words, i) => [
      [`a${i}.md`, quoted({ tags: "posts", title: words, summary: words, date: at(i) }, "Body\n")],
      [`b${i}.md`, quoted({ tags: "posts", twt: words, date: at(i) }, "Body\n")],
      [`c${i}.md`, quoted({ tags: "posts", date: at(i) }, `${words}\n`)],
    ]);
    built = await site({
      files: {
        ...Object.fromEntries(posts),
        "soon.md": quoted({ tags: "posts", title: "Soon", date: "2027-01-01T00:00:01Z" }),
      },
      options: `{ webmention: "https://alice.example/webmention", description: "Hi", follow: [{ nick: "bob", url: "${BOB}" }] }`,
    });
    const names = ["twtxt.txt"];
    for (
      let name: string | undefined = names[0];
      name;
      name = parseFeed(built.read(name)).fields.prev?.[0]?.split(" ")[1]
    ) {
      if (!names.includes(name)) names.push(name);
    }
    files = names.map((name) => {
      const text = built.read(name);
      const twtLines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
      return {
        bytes: Buffer.from(text),
        text,
        twtLines,
        texts: twtLines.map((line) => line.slice(line.indexOf("\t") + 1)),
      };
    });
  });

  it("has each post in one of its files, at a unique second", () => {
    const timestamps = files.flatMap(({ twtLines }) => twtLines.map((line) => line.slice(0, 20)));
    expect(files.length).toBeGreaterThan(1);
    expect(timestamps.length).toBe(AWKWARD.length * 3);
    expect(new Set(timestamps).size).toBe(timestamps.length);
  });

  it("getwtxt: one TAB per line, no empty text, no byte order mark, lines below 64 KiB", () => {
    for (const { bytes, twtLines } of files) {
      expect(bytes[0]).toBe("#".charCodeAt(0));
      for (const line of twtLines) {
        expect(line.split("\t")).toEqual([
          expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          expect.stringMatching(/\S/),
        ]);
        expect(Buffer.byteLength(line)).toBeLessThan(64 * 1024);
      }
    }
  });

  it("buckket/twtxt: no Python line terminator except U+2028, and none at the start; UTF-8; no future timestamp", () => {
    for (const { bytes, texts, twtLines } of files) {
      expect(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes)).not.toThrow();
      for (const text of texts) expect(text).not.toMatch(/[\r\v\f\x1c-\x1e\x85\u2029]|^[\u2028\s]/);
      for (const line of twtLines) expect(line < "2026-11-20T12:00:01Z").toBe(true);
    }
  });

  it("timeline: fields with single spaces, the endpoint before similar text, mentions with a nick and a preceding space", () => {
    expect(/webmention = (.*)/.exec(files[0]?.text ?? "")?.[1]).toBe("https://alice.example/webmention");
    for (const { text, texts } of files) {
      const header = text.slice(0, text.indexOf("\n\n")).split("\n");
      for (const line of header) expect(line).toMatch(/^# [a-z]+ = \S.*$/);
      for (const twt of texts) {
        for (const { nick, start } of locateMentions(twt)) {
          expect(nick).toBe("bob");
          expect(twt.slice(0, start)).toMatch(/(^|[ \u2028])$/);
        }
      }
    }
  });

  it("yarnd: no text that its parser changes or that hides later twts", () => {
    for (const { texts } of files) for (const text of texts) expect(adjustForPeers(text)).toBe(text);
  });

  it("all clients: every mention of a post is in the feed, even if the text is shortened", () => {
    const mentioning = files
      .flatMap(({ texts }) => texts)
      .filter((text) => findMentions(text).some(({ url }) => url === BOB));
    // Four of these texts mention bob. Each is used as a title, in the front matter and as a note.
    expect(mentioning.length).toBe(4 * 3);
  });
});
