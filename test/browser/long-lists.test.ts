import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type OwnTwt, SiteConversations } from "../../plugin/eleventy/mentions/conversations.js";
import { conversationHtml } from "../../plugin/eleventy/mentions/mention-html.js";
import type { PublicMention } from "../../plugin/site/mention-list.js";
import { describeInChromium, violationsInSchemes } from "../helpers/chromium.js";
import { listOptions } from "../helpers/list-options.js";
import { longMention } from "../helpers/long-conversation.js";
import { loopbackServer } from "../helpers/loopback.js";
import { COMPILED } from "../helpers/paths.js";
import { openTab } from "../helpers/tabs.js";

const POST = "https://alice.example/posts/x/";
const CSS = readFileSync("plugin/browser/twtxt.css", "utf8");
const SCRIPT = readFileSync(join(COMPILED, "browser/twtxt-mentions.js"), "utf8");

const replies = (count: number): PublicMention[] =>
  Array.from({ length: count }, (_, minute) => longMention(POST, minute, { text: `reply ${minute}` })).reverse();
const likes = (count: number): PublicMention[] =>
  Array.from({ length: count }, (_, minute) => longMention(POST, 300 + minute, { type: "like" })).reverse();

function pageOf(mentions: readonly PublicMention[], own: readonly OwnTwt[] = []): string {
  const html = conversationHtml(
    new SiteConversations(mentions, own).of(POST),
    listOptions({ target: POST, script: "/script.js", style: null }),
  );
  return `<!doctype html><html lang="en"><head><title>x</title><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><style>body { background: Canvas } ${CSS}</style></head><body><main><h1>x</h1>${html}</main></body></html>`;
}

/** Serves the page of a build, and the mentions that the site has by now. */
async function serve(built: readonly PublicMention[], live: readonly PublicMention[]): Promise<string> {
  const { url } = await loopbackServer(({ url: path = "" }, response) => {
    if (path === "/") return response.setHeader("content-type", "text/html; charset=utf-8").end(pageOf(built));
    if (path === "/script.js") return response.setHeader("content-type", "text/javascript").end(SCRIPT);
    response.end(JSON.stringify({ mentions: live.slice(0, 500), next: null }));
  });
  return `${url}/`;
}

const visibleReplies = `[...document.querySelectorAll(".twtxt-replies li")].filter((li) => li.checkVisibility()).length`;

describeInChromium("a long conversation", () => {
  it("shows reactions first, in one row, then its newest 20 replies, and unfolds the others without JavaScript", async () => {
    const tab = await openTab();
    await tab.route("**/script.js", (route) => route.abort());
    await tab.goto(await serve([...replies(136), ...likes(40)], []));

    expect(await tab.locator(".twtxt-heading").allInnerTexts()).toEqual(["Likes 40", "Replies 136"]);
    expect(await tab.locator("summary").allInnerTexts()).toEqual(["Show 34 more", "Show 116 more"]);
    expect(await tab.locator(".twtxt-replies > ol li:visible").count()).toBe(20);
    expect(await tab.locator(".twtxt-replies > ol li").last().innerText()).toContain("reply 135");
    await tab.locator("summary", { hasText: "Show 116 more" }).click();
    expect(await tab.locator(".twtxt-replies li:visible").count()).toBe(136);
    expect(await tab.locator(".twtxt-replies li").first().innerText()).toContain("reply 0");
  });

  it("folds as in the build when mentions arrive, and unfolds when they go", async () => {
    const tab = await openTab();
    for (const [before, after, summary] of [
      [30, 33, "Show 13 more"],
      [5, 33, "Show 13 more"],
      [33, 5, null],
    ] as const) {
      await tab.goto(await serve(replies(before), replies(after)));
      await tab.locator('twtxt-mentions[data-state="live"]').waitFor();

      expect(await tab.locator("summary").allInnerTexts()).toEqual(summary === null ? [] : [summary]);
      expect(await tab.evaluate(visibleReplies)).toBe(Math.min(after, 20));
      expect(await tab.locator(".twtxt-count").innerText()).toBe(String(after));
      const live = await tab.locator("twtxt-mentions").innerHTML();
      const built = /<twtxt-mentions[^>]*>([\s\S]*)<\/twtxt-mentions>/.exec(pageOf(replies(after)))?.[1] ?? "";
      expect(live.replace(/\s+/g, "")).toBe(built.replace(/\s+/g, ""));
    }
  });

  it("has no violations that axe finds, folded or open, in light and dark mode, and fits each width", async () => {
    const tab = await openTab();
    await tab.goto(await serve([...replies(30), ...likes(40)], [...replies(30), ...likes(40)]));
    await tab.locator('twtxt-mentions[data-state="live"]').waitFor();
    const found = await violationsInSchemes(tab);
    for (const summary of await tab.locator("summary").all()) await summary.click();
    found.push(...(await violationsInSchemes(tab)));

    expect(found).toEqual([]);
    for (const width of [320, 768, 1280]) {
      await tab.setViewportSize({ width, height: 800 });
      expect(await tab.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
  });
});

it("a short conversation has no markup for folding", () => {
  expect(pageOf([...replies(20), ...likes(6)])).not.toMatch(/<details|<summary/);
});
