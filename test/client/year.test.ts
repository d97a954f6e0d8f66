import { describe, expect, it } from "vitest";
import { countMonths, countWriters, MOST_OF_YEAR, YearPage, yearStart } from "../../plugin/client/mentions/year.js";
import type { ManagedMention } from "../../plugin/mentions/receive/managed-mention.js";

/** A Sunday. */
const NOW = Date.parse("2026-11-22T23:59:59Z");

function mention(received: string, type: ManagedMention["type"], name = "bob"): ManagedMention {
  const url = `https://${name}.example/twtxt.txt`;
  return {
    ...{ id: "0", version: "0", state: "shown", source: url, target: "https://alice.example/twtxt.txt", under: null },
    ...{ type, author: { name, url, photo: null }, text: "", html: null, published: null, received },
  };
}

describe("a year of mentions", () => {
  it("counts 12 months, UTC, by kind", () => {
    const months = [
      ...countMonths(
        [
          mention("2026-11-22T23:59:59.999Z", "mention"),
          mention("2026-11-01T00:00:00.000Z", "reply"),
          mention("2026-10-31T23:59:59.999Z", "like"),
          mention("2026-10-15T12:00:00.000Z", "repost"),
          mention("2025-12-01T00:00:00.000Z", "bookmark"),
          mention("2025-11-30T23:59:59.999Z", "mention"),
          mention("2026-11-16T00:00:00.000Z", null),
        ],
        NOW,
      ),
    ];
    expect(months).toHaveLength(12);
    expect(months[0]).toEqual(["2025-12", { mention: 0, reply: 0, reaction: 1 }]);
    expect(yearStart(NOW)).toBe("2025-12");
    expect(months.at(-2)).toEqual(["2026-10", { mention: 0, reply: 0, reaction: 2 }]);
    expect(months.at(-1)).toEqual(["2026-11", { mention: 1, reply: 1, reaction: 0 }]);
  });

  it("is a table with a bar for each month, none without mentions, and of many says which are counted", () => {
    const pageOf = (count: number) => {
      const mentions = Array<ManagedMention>(count).fill(mention("2026-11-20T00:00:00Z", "reply"));
      return String(YearPage({ mentions, now: NOW }));
    };
    expect(pageOf(9)).toContain(`<th scope="row">2026-11</th><td>0</td><td>9</td><td>0</td>`);
    expect(pageOf(9)).toContain('<meter max="9" value="9">');
    expect(pageOf(0)).not.toMatch(/<table/);
    expect(pageOf(MOST_OF_YEAR - 1)).toContain("1999 mentions were received and shown in the last 12 months.");
    expect(pageOf(MOST_OF_YEAR)).toContain(
      "The newest 2000 mentions are counted, those since <time>2026-11-20</time>.",
    );
  });

  it("lists the ten most frequent authors", () => {
    const names = Array.from({ length: 12 }, (_, index) => `n${String(index).padStart(2, "0")}`);
    const all = names.flatMap((name, index) => Array(index + 1).fill(mention("2026-11-20T00:00:00Z", "reply", name)));
    const writers = countWriters(all);
    expect(writers).toHaveLength(10);
    expect(writers[0]).toEqual({ name: "n11", url: "https://n11.example/twtxt.txt", count: 12 });
    expect(writers.at(-1)?.count).toBe(3);
  });
});
