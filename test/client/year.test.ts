import { describe, expect, it } from "vitest";
import { readAsset } from "../../build/plugin-from-source.js";
import { countWriters, toWeeks, YearPage, yearStart } from "../../plugin/client/mentions/year.js";
import type { ManagedMention } from "../../plugin/mentions/receive/managed-mention.js";
import { describeInChromium } from "../helpers/chromium.js";
import { openTab } from "../helpers/tabs.js";

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
  it("counts 52 weeks from Monday to Sunday, UTC, by kind", () => {
    const weeks = toWeeks(
      [
        mention("2026-11-22T23:59:59.999Z", "mention"),
        mention("2026-11-16T00:00:00.000Z", "reply"),
        mention("2026-11-15T23:59:59.999Z", "like"),
        mention("2026-11-15T12:00:00.000Z", "repost"),
        mention("2025-11-24T00:00:00.000Z", "bookmark"),
        mention("2025-11-23T23:59:59.999Z", "mention"),
        mention("2026-11-16T00:00:00.000Z", null),
      ],
      NOW,
    );
    expect(weeks).toHaveLength(52);
    expect(weeks[0]).toEqual({ start: "2025-11-24", counts: { mention: 0, reply: 0, reaction: 1 } });
    expect(weeks[0]?.start).toBe(yearStart(NOW));
    expect(weeks.at(-2)).toEqual({ start: "2026-11-09", counts: { mention: 0, reply: 0, reaction: 2 } });
    expect(weeks.at(-1)).toEqual({ start: "2026-11-16", counts: { mention: 1, reply: 1, reaction: 0 } });
  });

  it("is a plot and a table from ten mentions on, and only a table below that", () => {
    const pageOf = (count: number) => {
      const mentions = Array<ManagedMention>(count).fill(mention("2026-11-20T00:00:00Z", "reply"));
      return String(YearPage({ weeks: toWeeks(mentions, NOW), writers: countWriters(mentions) }));
    };
    const cells = (count: number) => `<th scope="row">2026-11-16</th><td>0</td><td>${count}</td><td>0</td>`;
    expect(pageOf(9)).toContain(cells(9));
    expect(pageOf(9)).not.toMatch(/<svg|<details/);
    expect(pageOf(10)).toContain(cells(10));
    expect(pageOf(10)).toMatch(/<svg [^>]*role="img".*<details>/s);
    expect(pageOf(0)).not.toMatch(/<svg|<table/);
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

describeInChromium("the plot of a year", () => {
  it("shows each of its months whole, whatever day it is and however narrow the screen", async () => {
    const css = await readAsset("client.css");
    const tab = await openTab();
    for (let day = 0; day < 35; day += 1) {
      const mentions = Array<ManagedMention>(10).fill(mention("2026-11-20T00:00:00Z", "reply"));
      const weeks = toWeeks(mentions, NOW + day * 86_400_000);
      await tab.setContent(`<!DOCTYPE html><style>${css}</style><main>${YearPage({ weeks, writers: [] })}</main>`);
      for (const width of [320, 390, 1280]) {
        await tab.setViewportSize({ width, height: 844 });
        expect([day, width, await tab.evaluate(CLIPPED_OR_OVERLAPPING)]).toEqual([day, width, []]);
      }
    }
  });
});

/** The months that are not whole within the plot, or lie on the one before. */
const CLIPPED_OR_OVERLAPPING = `(() => {
  const plot = document.querySelector(".plot").getBoundingClientRect();
  const shown = [...document.querySelectorAll(".plot text")].map((text) => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
  return shown.filter(([, box], at) => box.left < plot.left - 1 || box.right > plot.right + 1 || (at > 0 && box.left < shown[at - 1][1].right)).map(([month]) => month);
})()`;
