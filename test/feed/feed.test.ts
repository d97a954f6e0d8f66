import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findTwts, formatFeed, parseFeed } from "../../plugin/feed/feed.js";
import { findMentions } from "../../plugin/feed/mention.js";

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

describe("reading the awkward feeds of the vectors", () => {
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
