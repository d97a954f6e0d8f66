// test/site/timeline.test.ts: which twts a timeline shows, and in which order.
import { describe, expect, it } from "vitest";
import { type Entry, mentionEntry, newestThreads, type Thread } from "../../plugin/site/conversation.js";
import { type PlainTwt, selectTwts } from "../../plugin/site/timeline.js";
import { shownMention } from "../../plugin/site/timeline-markup.js";

const NOW = "2026-03-01T00:00:00Z";

function twt(name: string, second: number, change: Partial<PlainTwt> = {}): PlainTwt {
  const published = `${new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString().slice(0, 19)}Z`;
  return {
    source: `https://${name}.example/twtxt.txt#:~:text=${published}`,
    author: { name, url: `https://${name}.example/twtxt.txt`, photo: null },
    isOwn: false,
    text: `${name} ${second}`,
    hash: `${name}-${second}`,
    hashV1: `${name}-${second}`,
    replyTo: null,
    published,
    ...change,
  };
}

const own = (second: number, change: Partial<PlainTwt> = {}) => twt("alice", second, { isOwn: true, ...change });

/** The threads as text, such as `bob 2(alice 3)`. */
function outlineOf(twts: readonly PlainTwt[]): string {
  const text = new Map(twts.map((each) => [mentionEntry(shownMention(each)).key, each.text]));
  const outline = (threads: readonly Thread<Entry>[]): string =>
    threads
      .map(({ entry, replies }) => `${text.get(entry.key)}${replies.length > 0 ? `(${outline(replies)})` : ""}`)
      .join(" | ");
  return outline(newestThreads(twts.map((each) => mentionEntry(shownMention(each)))));
}

describe("a timeline", () => {
  it("has the conversation with the newest twt first, and its replies oldest first", () => {
    const followed = [
      twt("bob", 1),
      twt("carol", 2),
      twt("bob", 5, { replyTo: "bob-1" }),
      twt("carol", 4, { replyTo: "bob-1" }),
    ];
    expect(outlineOf(selectTwts(followed, [], NOW))).toBe("bob 1(carol 4 | bob 5) | carol 2");
  });

  it("has the author's twts in its conversations, and no others of the author", () => {
    const followed = [twt("bob", 1), twt("carol", 9, { replyTo: "alice-8" })];
    const selected = selectTwts(followed, [own(3), own(2, { replyTo: "bob-1" }), own(8)], NOW);
    expect(outlineOf(selected)).toBe("alice 8(carol 9) | bob 1(alice 2)");
  });

  it("hides a twt with a future date until then", () => {
    const followed = [twt("bob", 1), twt("bob", 2, { published: "2026-03-01T00:00:01Z" })];
    expect(selectTwts(followed, [], NOW).map(({ text }) => text)).toEqual(["bob 1"]);
    expect(selectTwts(followed, [], "2026-03-01T00:00:01Z").map(({ text }) => text)).toEqual(["bob 2", "bob 1"]);
  });

  it("has the newest 200 twts of followed feeds, newest first", () => {
    const many = Array.from({ length: 500 }, (_, i) => twt("bob", i));
    const selected = selectTwts(many.toReversed(), [], NOW);
    expect(selected.map(({ hash }) => hash)).toEqual(Array.from({ length: 200 }, (_, i) => `bob-${499 - i}`));
  });

  it("has each twt once", () => {
    expect(selectTwts([twt("bob", 1), twt("bob", 1)], [], NOW)).toHaveLength(1);
  });
});
