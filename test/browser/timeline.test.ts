// test/browser/timeline.test.ts: the timeline in a real Chromium.
import { expect, it } from "vitest";
import { timelineHtml } from "../../plugin/eleventy/mentions/mention-html.js";
import { textHtml } from "../../plugin/site/text-html.js";
import type { TimelineTwt } from "../../plugin/site/timeline.js";
import { describeInChromium, violationsInSchemes } from "../helpers/chromium.js";
import { listOptions } from "../helpers/list-options.js";
import { loopbackServer } from "../helpers/loopback.js";
import { readAsset } from "../helpers/read-asset.js";
import { openTab } from "../helpers/tabs.js";

const UPDATED = "2026-11-22T12:00:00Z";

function twt(name: string, hour: number, text: string, change: Partial<TimelineTwt> = {}): TimelineTwt {
  const published = `2026-11-20T${hour}:00:00Z`;
  const url = `https://${name}.example/twtxt.txt`;
  const hash = `${name}${hour}`;
  const author = { name, url, photo: null };
  const html = textHtml(text, "twt");
  return {
    source: `${url}#:~:text=${published}`,
    author,
    isOwn: false,
    text,
    html,
    hash,
    hashV1: hash,
    replyTo: null,
    published,
    ...change,
  };
}

const TWTS = [
  twt("bob", 10, "The **first** frost. Deployed with `npx @11ty/eleventy`."),
  twt("carol", 11, `Jelly? https://carol.example/${"quince".repeat(40)}`, { replyTo: "bob10" }),
  twt("alice", 12, "Cheese!", { replyTo: "carol11", isOwn: true }),
  twt("dave", 13, `${"a".repeat(400)} مرحبا بالعالم`),
];

const UNREAD = [
  { nick: "erin", url: "https://erin.example/tw.txt", reason: "gone", lastRead: "2026-11-19T12:00:00Z" },
  { nick: "frank", url: "gopher://frank.example/0/tw.txt", reason: "noFeed", lastRead: null },
] as const;

/** CSS of a starter whose links differ from text only in color. */
const THEME = "@media (prefers-color-scheme: light) { a { color: #00f; text-decoration: none } }";

function page(): string {
  const html = timelineHtml(
    { twts: TWTS, unread: [...UNREAD], updated: UPDATED },
    listOptions({ json: null, target: null }),
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Timeline</title>
<style>${THEME}</style>
<body style="background: Canvas; font: 1rem/1.5 sans-serif; max-width: 40rem; margin: 1rem auto; padding: 0 1rem">
<main><h1 class="twtxt-title">Timeline</h1>${html}</main>`;
}

describeInChromium("the timeline", () => {
  it("fits each width, and axe finds no violations in light and dark mode", async () => {
    const { url } = await loopbackServer(async (request, response) => {
      const isStyle = request.url === "/twtxt.css";
      response.setHeader("content-type", isStyle ? "text/css" : "text/html");
      response.end(isStyle ? await readAsset("twtxt.css") : page());
    });
    const tab = await openTab();
    await tab.goto(url);
    expect(await tab.locator(".twtxt-name").allInnerTexts()).toEqual(["dave", "bob", "carol", "alice"]);
    expect(await tab.locator(".twtxt-unread li").allInnerTexts()).toEqual([
      "@erin no longer exists (last read 3 days ago)",
      "@frank is not a feed (not read yet)",
    ]);
    expect(await violationsInSchemes(tab)).toEqual([]);
    for (const width of [320, 360, 1280]) {
      await tab.setViewportSize({ width, height: 800 });
      expect(await tab.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
  });
});
