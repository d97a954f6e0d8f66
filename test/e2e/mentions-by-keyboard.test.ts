// test/e2e/mentions-by-keyboard.test.ts: the room of mentions in a real Chromium, with only the keyboard.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { expectAccessible, expectFits } from "../client/looks.js";
import { moderatedSite } from "../client/moderated-site.js";
import { noticed } from "../client/notice.js";
import { openPage } from "../client/open-page.js";
import { describeInChromium } from "../helpers/chromium.js";
import { openTab } from "../helpers/tabs.js";

const TWTS = {
  "2026-11-18T08:00:00Z": "the **first** frost. `npx @11ty/eleventy` https://bob.example/frost",
  "2026-11-19T18:40:02Z": "quinces?",
  "2026-11-19T18:40:03Z": "cheese!",
};

/** The text of the focused item. */
function focused(tab: Page): Promise<string> {
  return tab.locator("[data-item]:focus .p-content").innerText();
}

/** The months and headings of the table of the year that are in several lines. */
const BROKEN_MONTHS = `[...document.querySelectorAll("th")].filter((cell) => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  return new Set([...text.getClientRects()].map(({ top }) => top)).size > 1;
}).map((cell) => cell.textContent)`;

describeInChromium("the room of mentions, by keyboard", () => {
  it("approves one and focuses the next, and axe finds no violations on any page", async () => {
    const { bob, client, shown } = await moderatedSite(TWTS);
    const tab = await openTab();
    const left: string[] = [];
    tab.on("request", (request) => request.url().startsWith(client.origin) || left.push(request.url()));
    await tab.goto(client.link);
    await tab.waitForURL(`${client.origin}/mentions`);
    const inNavigation = () => tab.locator("#room-mentions").innerText();
    expect(await inNavigation()).toMatch(/3\s+held/);

    await tab.keyboard.press("j");
    expect(await focused(tab)).toContain("cheese!");
    await tab.keyboard.press("j");
    await tab.keyboard.press("k");
    await tab.keyboard.press("j");
    expect(await focused(tab)).toContain("quinces?");
    await expectAccessible(tab, "held");

    await tab.keyboard.press("a");
    await noticed(tab, "Approved: the mention by bob.");
    expect(await inNavigation()).toMatch(/2\s+held/);
    expect(await shown()).toEqual([bob.twt("2026-11-19T18:40:02Z")]);
    // The next item takes its place.
    expect(await focused(tab)).toContain("the first frost");
    await expect.poll(() => tab.getByRole("status").innerText()).toContain("Approved");
    await expectFits(tab, "approved");

    await tab.keyboard.press("?");
    expect(await tab.getByRole("dialog").innerText()).toContain("approves the mention");
    await expectAccessible(tab, "keys");
    await tab.keyboard.press("Escape");

    await tab.keyboard.press("j");
    await tab.keyboard.press("b");
    await tab.getByRole("heading", { name: "Block 127.0.0.1" }).waitFor();
    await expectAccessible(tab, "block");
    await tab.goBack();
    await tab.keyboard.press("j");
    await tab.keyboard.press("d");
    await tab.getByRole("heading", { name: "Forget this mention?" }).waitFor();
    await expectFits(tab, "forget");

    await tab.goto(`${client.origin}/mentions/year`);
    await expectAccessible(tab, "year");
    for (const width of [320, 390, 1280]) {
      await tab.setViewportSize({ width, height: 844 });
      expect([width, await tab.evaluate(BROKEN_MONTHS)]).toEqual([width, []]);
    }
    expect(left).toEqual([]);
  });

  it("shows new mentions without a reload, and keeps focus and opened details", async () => {
    const { bob, client, send } = await moderatedSite({ "2026-11-19T18:40:02Z": "quinces?" });
    const tab = await openPage(client, "/mentions");
    await tab.keyboard.press("j");
    bob.twts = { ...bob.twts, "2026-11-19T18:40:03Z": "@<alice https://alice.example/twtxt.txt> cheese!" };
    await send("2026-11-19T18:40:03Z");
    await tab.evaluate("document.dispatchEvent(new Event('twtxt:news'))");
    await tab.getByText("cheese!").waitFor();
    expect(await tab.locator(".tabs").innerText()).toContain("Held 2");
    expect(await focused(tab)).toContain("quinces?");
    await tab.keyboard.press("k");
    expect(await focused(tab)).toContain("cheese!");
  });
});
