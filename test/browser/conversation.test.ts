import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { SiteConversations } from "../../plugin/eleventy/mentions/conversations.js";
import { conversationHtml } from "../../plugin/eleventy/mentions/mention-html.js";
import type { PublicMention } from "../../plugin/site/mention-list.js";
import { describeInChromium, violationsInSchemes } from "../helpers/chromium.js";
import { listOptions } from "../helpers/list-options.js";
import { longConversation, longMention, ownAnswers } from "../helpers/long-conversation.js";
import { loopbackServer } from "../helpers/loopback.js";
import { readAsset } from "../helpers/read-asset.js";
import { openTab } from "../helpers/tabs.js";

const POST = "https://alice.example/posts/x/";
const WIDTHS = [320, 360, 1280];
/** A narrow and a wide screen. There are only two, because a screenshot of the long page costs much processor time. */
const PICTURED_WIDTHS = [320, 1280];
const SCHEMES = ["light", "dark"] as const;

/** The place of a removed reply, with answers. */
const removed = (mention: PublicMention): PublicMention =>
  mention.hash === "hash6"
    ? { ...mention, author: { name: "", url: "", photo: null }, text: "", html: null, isRemoved: true }
    : mention;

const MENTIONS = longConversation(POST).map(removed);
/** The list of an earlier build: with a reply that is now removed, and the old text of an edited reply. */
const EARLIER = [
  longMention(POST, 30, { text: "This is removed." }),
  ...longConversation(POST).map((mention) =>
    mention.hash === "hash7" ? { ...mention, html: "<p>Before I edited it.</p>" } : mention,
  ),
];

/** CSS rules of some starters. */
const THEME = `
code { background: #bfbfbe; color: #0074d9 }
strong { font-weight: inherit }
`;

function pageOf(mentions: readonly PublicMention[]): string {
  const conversation = new SiteConversations(mentions, ownAnswers(POST)).of(POST);
  const html = conversationHtml(conversation, listOptions({ target: POST, endpoint: "/webmention" }));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Quinces</title>
<style>${THEME}</style>
<body style="background: Canvas; font: 1rem/1.5 sans-serif; max-width: 40rem; margin: 1rem auto; padding: 0 1rem">
<main><h1>Quinces</h1>${html}</main>`;
}

/** Opens a page of a site whose list is newer than its build. */
async function open(built: readonly PublicMention[], page: Page): Promise<void> {
  const { url } = await loopbackServer(async ({ url = "" }, response) => {
    const { pathname } = new URL(url, POST);
    const isAsset = pathname.startsWith("/twtxt");
    const [type, content] =
      pathname === "/mentions.json"
        ? ["application/json", JSON.stringify({ mentions: MENTIONS, next: null })]
        : [
            isAsset ? `text/${pathname.split(".").at(-1)}` : "text/html",
            isAsset ? await readAsset(pathname.slice(1)) : pageOf(built),
          ];
    response.setHeader("content-type", type.replace("text/js", "text/javascript")).end(content);
  });
  await page.goto(url);
}

/** Screenshots at a narrow and a wide width, in light and dark mode. */
async function picturesOf(page: Page): Promise<Record<string, string>> {
  const pictures: Record<string, string> = {};
  const chromium = await page.context().newCDPSession(page);
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    for (const width of PICTURED_WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      const height = Number(await page.evaluate("document.documentElement.scrollHeight"));
      const { data } = await chromium.send("Page.captureScreenshot", {
        clip: { x: 0, y: 0, width, height, scale: 1 },
        captureBeyondViewport: true,
        optimizeForSpeed: true,
      });
      pictures[`${width} ${colorScheme}`] = createHash("sha256").update(data).digest("hex");
    }
  }
  return pictures;
}

describeInChromium("a long conversation under a post", () => {
  it("looks the same with JavaScript as after a new build, when a reply was edited and another one removed, and fits each width without violations that axe finds", async () => {
    const page = await openTab();
    await page.route("**/*.js", (route) => route.abort());
    await open(MENTIONS, page);
    const pictures = await picturesOf(page);
    await page.unrouteAll();
    await open(EARLIER, page);
    await page.locator("twtxt-mentions[data-state=live]").waitFor();

    expect(new Set(Object.values(pictures)).size).toBe(PICTURED_WIDTHS.length * SCHEMES.length);
    expect(await picturesOf(page)).toEqual(pictures);
    expect(await page.locator(".twtxt-removed > p").allTextContents()).toEqual(["A reply was removed"]);
    const count = (selector: string) => page.locator(selector).count();
    expect(await page.locator(".twtxt-count").allInnerTexts()).toEqual(["40", "1", "1", "29", "1"]);
    expect(await count(".twtxt-own")).toBe(2);
    expect(await count(".twtxt-thread .twtxt-thread .twtxt-thread")).toBeGreaterThan(3);
    expect(await count(".twtxt-thread .twtxt-thread .twtxt-thread .twtxt-thread")).toBe(0);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
    expect(await violationsInSchemes(page)).toEqual([]);
    const end = (selector: string) =>
      page.evaluate(`document.querySelector("${selector}").getBoundingClientRect().right`);
    expect(await end(".twtxt-form button")).toBe(await end(".twtxt-form"));
  });
});
