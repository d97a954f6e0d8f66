import { readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { readAsset } from "../../build/plugin-from-source.js";
import { type OwnTwt, SiteConversations } from "../../plugin/eleventy/mentions/conversations.js";
import { conversationHtml, mentionListHtml, timelineHtml } from "../../plugin/eleventy/mentions/mention-html.js";
import type { MentionType, PublicMention } from "../../plugin/site/mention-list.js";
import type { Timeline, TimelineTwt, UnreadFeed } from "../../plugin/site/timeline.js";
import { describeInChromium, sharedChromium } from "../helpers/chromium.js";
import { HOSTILE_TEXTS } from "../helpers/hostile-texts.js";
import { listOptions } from "../helpers/list-options.js";
import { longConversation } from "../helpers/long-conversation.js";
import { loopbackServer } from "../helpers/loopback.js";
import { COMPILED } from "../helpers/paths.js";

/** The script of the package. */
const SCRIPT = join(COMPILED, "browser/twtxt-mentions.js");
const POST = "https://alice.example/posts/x/";
const FEED = "https://alice.example/twtxt.txt";
const MINUTE = 60_000;
const START = Date.parse("2026-03-01T00:00:00Z");

/** A mention by Bob at a minute of 2026-01-02. */
function mentionAt(minute: number, change: Partial<PublicMention> = {}): PublicMention {
  const time = `2026-01-02T03:${String(minute).padStart(2, "0")}:00`;
  return {
    source: `https://bob.example/twtxt.txt#:~:text=${time}Z`,
    target: POST,
    under: null,
    type: "mention",
    author: { name: `bob ${minute}`, url: "https://bob.example/twtxt.txt", photo: null },
    text: `said ${minute}`,
    html: null,
    hash: null,
    hashV1: null,
    replyTo: null,
    published: `${time}Z`,
    received: `${time}.678Z`,
    ...change,
  };
}

function mentionsAt(...minutes: number[]): PublicMention[] {
  return minutes.map((minute) => mentionAt(minute));
}

/** The HTML list of the build. */
function listOf(
  mentions: readonly PublicMention[] | null,
  options: { target?: string | null; page?: number } = {},
  own: readonly OwnTwt[] = [],
): string {
  const all = listOptions({
    ...{ style: null, feed: { url: FEED, nick: "al<i>ce" } },
    pictures: new Map([["https://bob.example/bob.png", "/bob.png"]]),
    ...{ target: POST, ...options },
  });
  return all.target === null
    ? mentionListHtml(mentions, all)
    : conversationHtml(mentions && new SiteConversations(mentions, own).of(all.target), all);
}

type Json = (url: URL, ...parts: Parameters<RequestListener>) => unknown;

/** A response with these mentions and no next page. */
const all =
  (...mentions: PublicMention[]): Json =>
  () => ({ mentions, next: null });

/** A page with a stopped clock, which records its events, requests and changes of lists. */
interface Tab {
  page: Page;
  requests: string[];
}

/** The tab that tests share one after another: a new one costs more processor time than most tests. */
let shared: Tab | undefined;
/** The tabs of single tests. */
const own: Tab[] = [];

const close = (tab: Tab) => tab.page.context().close();
afterEach(async () => {
  await Promise.all(own.splice(0).map(close));
});
afterAll(() => shared && close(shared));

/** A site with a page and its list of mentions, which `json` returns unless it sends the response itself. */
async function siteWith(body: string, json: Json) {
  const script = await readFile(SCRIPT);
  const site = {
    json,
    server: await loopbackServer((request, response) => {
      const url = new URL(request.url ?? "", "http://127.0.0.1");
      if (url.pathname === "/twtxt-mentions.js")
        return response.setHeader("content-type", "text/javascript").end(script);
      if (url.pathname !== "/mentions.json") {
        return response.setHeader("content-type", "text/html; charset=utf-8").end(`<!doctype html>${body}`);
      }
      const answer = site.json(url, request, response);
      if (answer === undefined) return;
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
    }),
    /** The requests for the list, in order. */
    listRequests: () => site.server.requests.filter((path) => path.startsWith("/mentions.json")),
  };
  return site;
}

async function newTab(options: BrowserContextOptions = {}): Promise<Tab> {
  const page = await (await sharedChromium()).newPage(options);
  await page.addInitScript(`
    globalThis.counts = [];
    globalThis.changes = [];
    globalThis.requestCount = 0;
    const { fetch } = globalThis;
    globalThis.fetch = (...parts) => {
      requestCount += 1;
      return fetch(...parts);
    };
    addEventListener("twtxt-mentions", ({ detail }) => counts.push(detail.count));
    addEventListener("DOMContentLoaded", () => {
      const observer = new MutationObserver((records) => changes.push(...records.map(({ type }) => type)));
      const what = { subtree: true, childList: true, characterData: true, attributes: true };
      for (const list of document.querySelectorAll("ol")) observer.observe(list, what);
    });
  `);
  await page.clock.install({ time: START });
  await page.clock.pauseAt(START + 1000);
  const tab: Tab = { page, requests: [] };
  page.on("request", (request) => tab.requests.push(request.url()));
  return tab;
}

/** Opens a page of a site, in a separate tab if options for its context are given. */
async function opened(url: string, options?: BrowserContextOptions): Promise<Tab> {
  const tab = options ? await newTab(options) : (shared ?? (await newTab()));
  if (options) own.push(tab);
  else shared = tab;
  tab.requests = [];
  await tab.page.goto(url, { waitUntil: "commit" });
  return tab;
}

/** Advances the clock of a page. It cannot be set back, so it is later for the next test, too. */
async function pass(page: Page, milliseconds: number): Promise<void> {
  await page.clock.runFor(milliseconds);
}

async function openedUntil(state: "live" | "offline", url: string): Promise<Tab> {
  const { page, requests } = await opened(url);
  await page.locator(`twtxt-mentions[data-state=${state}]`).last().waitFor({ state: "attached" });
  return { page, requests };
}

/** A one-time event with a promise. */
function event() {
  let happen = () => {};
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happen: () => happen(), happened };
}

const settled = (page: Page, count: number) => page.waitForFunction(`counts.length === ${count}`);
const shown = (page: Page) => page.locator("li.h-cite .p-content").allInnerTexts();
/** Makes the page visible or hidden. */
const look = (page: Page, state = "visible") =>
  page.evaluate(`
    Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
    void document.dispatchEvent(new Event("visibilitychange"));
  `);
const texts = (...minutes: number[]) => minutes.map((minute) => `said ${minute}`);

describe("the script of <twtxt-mentions>", () => {
  it("is below 8.4 kB, minified and compressed as in the package", async () => {
    expect(gzipSync(await readFile(SCRIPT)).length).toBeLessThan(8400);
  });

  it.each([
    ["in the package", () => readFile(SCRIPT, "utf8")],
    ["from source", () => readAsset("twtxt-mentions.js")],
  ])("needs no other file, and never parses a text as HTML: %s", async (_where, read) => {
    const script = await read();
    expect(script).toContain("customElements.define");
    expect(script).not.toMatch(/^\s*import\b|\bimport\(/m);
    expect(script).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|setHTML|createContextualFragment|document\.write/,
    );
  });
});

describeInChromium("<twtxt-mentions>", () => {
  it("shows the built list without JavaScript", async () => {
    const site = await siteWith(listOf(mentionsAt(2, 1)), all(...mentionsAt(3, 2, 1)));
    const { page } = await opened(site.server.url, { javaScriptEnabled: false });
    await page.locator("li").last().waitFor();

    expect(await shown(page)).toEqual(texts(2, 1));
    expect(site.listRequests()).toEqual([]);
  });

  it("adds new mentions in order, and fires an event with their number", async () => {
    const site = await siteWith(listOf(mentionsAt(4, 2)), all(...mentionsAt(6, 5, 4, 3, 2)));
    const { page } = await openedUntil("live", site.server.url);

    expect(await shown(page)).toEqual(texts(6, 5, 4, 3, 2));
    expect(await page.evaluate("counts")).toEqual([5]);
    expect(site.listRequests()).toEqual([`/mentions.json?target=${encodeURIComponent(POST)}&limit=100`]);
  });

  it.each(["<ol class=twtxt-mentions></ol>", ""])("fills an empty list: %j", async (list) => {
    const body = `<twtxt-mentions src="/mentions.json">${list}<p class="twtxt-none">Nobody yet.</p></twtxt-mentions>`;
    const site = await siteWith(`${body}<script type="module" src="/twtxt-mentions.js"></script>`, all(mentionAt(1)));
    const { page } = await openedUntil("live", site.server.url);

    expect(await shown(page)).toEqual(texts(1));
    expect(await page.locator("ol").count()).toBe(1);
    expect(await page.locator(".twtxt-none").isVisible()).toBe(false);
  });

  it("removes deleted mentions, shows the text of an empty list, and keeps other elements", async () => {
    const list = listOf(mentionsAt(2, 1)).replace("</ol>", `<li class="own">Write to me.</li></ol>`);
    const none = `<p class="twtxt-none" hidden>Nobody yet.</p></twtxt-mentions>`;
    const site = await siteWith(list.replace("</twtxt-mentions>", none), all());
    const { page } = await openedUntil("live", site.server.url);

    expect(await page.locator("li").allInnerTexts()).toEqual(["Write to me."]);
    expect(await page.locator(".twtxt-none").isVisible()).toBe(true);
    expect(await page.evaluate("counts")).toEqual([0]);
  });

  it("removes deleted mentions among the newest, and keeps older ones", async () => {
    const site = await siteWith(listOf(mentionsAt(5, 4, 3, 2, 1)), () => ({
      mentions: mentionsAt(5, 3),
      next: "older",
    }));
    const { page } = await openedUntil("live", site.server.url);

    expect(await shown(page)).toEqual(texts(5, 3, 2, 1));
  });

  it.each([
    ["of a page", POST],
    ["of all", null],
  ])("creates exactly the items that the build writes, including white space, in a list %s", async (_name, target) => {
    const types: MentionType[] = ["mention", "reply", "like", "repost", "bookmark"];
    const mentions = [
      ...types.map((type, minute) => mentionAt(minute, { type })).reverse(),
      mentionAt(10, { published: null }),
      mentionAt(11, { text: "" }),
      mentionAt(12, { text: "one\ntwo\n\nthree  <b>\u2028 &amp;" }),
      mentionAt(14, {
        text: "@<bob https://bob.example/tw.txt> @<https://[::1]:80/> (#abc) hello @<a b> @<c ftp://c>",
      }),
      mentionAt(15, { text: "(#abcdefg)" }),
      mentionAt(16, { target: FEED, under: `${POST}?a=%C3%A4&b` }),
      mentionAt(18, { target: FEED }),
      mentionAt(19, { target: FEED, type: "reply" }),
      mentionAt(20, { target: FEED, type: "reply", under: POST }),
      mentionAt(17, { target: "javascript:alert(1)", text: "\u202e\u05d0" }),
      mentionAt(13, { author: { name: "", url: "mailto:bob@bob.example", photo: "https://bob.example/bob.png" } }),
    ].sort((a, b) => (a.received < b.received ? 1 : -1));
    const built = listOf(mentions, { target }).replaceAll(/<img [^>]*> /g, "");
    const site = await siteWith(`<main>${built}</main><aside>${listOf([], { target })}</aside>`, all(...mentions));
    const { page } = await opened(site.server.url);
    await settled(page, 2);
    const items = (where: string) =>
      page.evaluate(`[...document.querySelectorAll("${where} li")].map(({ outerHTML }) => outerHTML)`);

    expect(await items("aside")).toEqual(await items("main"));
    expect(await page.locator("aside li").count()).toBe(mentions.length);
  });

  it("creates exactly the parts, headings and threads that the build writes", async () => {
    const mentions = longConversation(POST);
    const site = await siteWith(`<main>${listOf(mentions)}</main><aside>${listOf([])}</aside>`, all(...mentions));
    const { page } = await opened(site.server.url);
    await settled(page, 2);
    // The build writes each item on its own line.
    const parts = (where: string) =>
      page.evaluate(`document.querySelector("${where} twtxt-mentions").innerHTML.trim().replace(/>\\n</g, "><")`);

    expect(await parts("aside")).toBe(await parts("main"));
    expect(await page.locator("aside li li li li").count()).toBeGreaterThan(3);
    expect(await page.locator("aside .twtxt-heading").count()).toBe(5);
  });

  it("shows one item for a twt with several mentions: the mention received last", async () => {
    const twt = { hash: "hashof5long5", hashV1: "hashof5" };
    const both = [
      mentionAt(5, { ...twt, received: "2026-01-02T04:00:00.000Z" }),
      mentionAt(5, { ...twt, target: FEED, under: POST }),
    ];
    const pages = [POST, null].map((target) => listOf([...both.slice(1), mentionAt(2)], { target }));
    const site = await siteWith(pages.join(""), all(...both, mentionAt(2)));
    const { page } = await opened(site.server.url);
    await settled(page, 2);

    expect(await shown(page)).toEqual(texts(5, 2, 5, 2));
    expect(await page.locator(`[data-target="${FEED}"]`).count()).toBe(0);
  });

  it("does not touch unchanged items", async () => {
    const photo = { name: "bob", url: "https://bob.example/", photo: "https://bob.example/bob.png" };
    const mentions = [mentionAt(4, { author: photo }), mentionAt(3, { text: "one\ntwo", type: "like" }), mentionAt(2)];
    const site = await siteWith(listOf(mentions), all(...mentions));
    const { page } = await openedUntil("live", site.server.url);

    expect(await page.evaluate("counts")).toEqual([3]);
    expect(await page.evaluate("changes")).toEqual([]);
  });

  it("keeps focus and selection while other items change", async () => {
    const site = await siteWith(listOf(mentionsAt(4, 3, 2)), all(...mentionsAt(4, 3, 2)));
    const { page } = await openedUntil("live", site.server.url);
    await page.locator("li:nth-child(2) .u-url").focus();
    await page.evaluate(`getSelection().selectAllChildren(document.querySelector("li:nth-child(2) .p-content"))`);
    site.json = all(mentionAt(5), mentionAt(4, { text: "changed" }), mentionAt(3));
    await pass(page, MINUTE);
    await look(page);
    await settled(page, 2);

    expect(await shown(page)).toEqual(["said 5", "changed", "said 3"]);
    expect(await page.evaluate("document.activeElement.closest('li').textContent")).toContain("said 3");
    expect(await page.evaluate("String(getSelection())")).toBe("said 3");
  });

  it.each([
    ["before the name", (list: string) => list],
    ["in the link", (list: string) => list.replace(/(<img [^>]*> )(<a class="p-author[^>]*>)/, "$2$1")],
  ])("updates changed items, and keeps the picture %s", async (_where, place) => {
    const author = { name: "bob", url: "https://bob.example/", photo: "https://bob.example/bob.png" };
    const changed = {
      type: "reply" as const,
      author: { name: "Robert", url: "https://robert.example/", photo: "https://robert.example/r.png" },
      text: "second\nthird",
      published: "2026-02-03T00:00:00Z",
    };
    const site = await siteWith(place(listOf([mentionAt(1, { author })])), all(mentionAt(1, changed)));
    const { page, requests } = await openedUntil("live", site.server.url);

    const item = page.locator("li");
    expect((await item.innerText()).trim()).toBe("Robert, via bob.example replied Feb 3, 2026\n\nsecond\nthird");
    expect(await item.getAttribute("class")).toBe("h-cite u-comment twtxt-is-reply");
    expect(await item.locator(".p-author").getAttribute("href")).toBe("https://robert.example/");
    expect(await item.locator(".u-photo").getAttribute("src")).toBe("/bob.png");
    expect(requests.filter((url) => !url.startsWith(site.server.url))).toEqual([]);
  });

  it("names the page of a new mention by its title, as the build does", async () => {
    const site = await siteWith(
      listOf([], { target: null }),
      all(mentionAt(1, { title: "Hens & <quinces>", type: "reply" })),
    );
    const { page } = await openedUntil("live", site.server.url);
    expect(await page.locator(".twtxt-verb").innerText()).toBe("replied to Hens & <quinces>");
  });

  it("updates the link to a mention's target page", async () => {
    const target = { target: FEED };
    const site = await siteWith(
      listOf([mentionAt(2, target), mentionAt(1)], { target: null }),
      all(mentionAt(2, { ...target, under: POST, type: "reply" }), mentionAt(1, { type: "reply" })),
    );
    const { page } = await openedUntil("live", site.server.url);

    const abouts = await page.evaluate(
      `[...document.querySelectorAll(".twtxt-by > .twtxt-verb > .twtxt-about")].map((a) => a.outerHTML)`,
    );
    const link = `<a class="twtxt-about u-in-reply-to" href="${POST}"><cite dir="auto">/posts/x/</cite></a>`;
    expect(abouts).toEqual([link, link]);
  });

  it.each([
    ["shown: there are no mentions", [], all(), true],
    ["shown: the last mention was deleted", mentionsAt(1), all(), true],
    ["hidden: a mention has arrived", [], all(mentionAt(1)), false],
    ["shown: the list was unknown to the build and is empty", null, all(), true],
    ["hidden: the list is unknown and unavailable", null, () => null, false],
  ])("has the text of an empty list on the page of all mentions, %s", async (_name, built, json, isVisible) => {
    const site = await siteWith(listOf(built, { target: null }), json);
    const { page } = await opened(site.server.url);
    await page.locator("twtxt-mentions[data-state]").waitFor({ state: "attached" });

    expect(await page.locator(".twtxt-none").isVisible()).toBe(isVisible);
    expect(await page.locator(".twtxt-none").textContent()).toBe("No mentions yet.");
  });

  it("uses the translations of the page", async () => {
    const list = listOf([]).replace(
      "<twtxt-mentions",
      `<twtxt-mentions data-text-mention="hat das erwähnt" data-text-mentions="Erwähnt von"`,
    );
    const site = await siteWith(list, all(mentionAt(1)));
    const { page } = await openedUntil("live", site.server.url);

    expect(await page.locator(".twtxt-by").innerText()).toBe("bob 1 hat das erwähnt Jan 2, 2026");
  });

  describe("text from other sites", () => {
    const evil = [
      mentionAt(5, {
        author: {
          name: `<img src=x onerror="hacked=1">\u202ebob\u2028`,
          url: "javascript:hacked=1",
          photo: "https://evil.example/pixel.png",
        },
        text: `</p><script>hacked=1</script>\u2028<iframe src="https://evil.example/"></iframe>\n\u202e{{ 7*7 }}`,
      }),
      mentionAt(4, { source: "data:text/html,<script>hacked=1</script>", published: `"><script>hacked=1</script>` }),
      mentionAt(3, { source: `https://evil.example/" onclick="hacked=1`, target: `"><script>hacked=1</script>` }),
      mentionAt(2, {
        type: "constructor" as MentionType,
        author: { name: "eve", url: " javascript:hacked=1", photo: null },
      }),
    ];

    it("creates only text and links to the web", async () => {
      const site = await siteWith(listOf(mentionsAt(1)), all(...evil, mentionAt(1)));
      const { page, requests } = await openedUntil("live", site.server.url);
      const made = "li.h-cite:not(:last-child)";

      expect(await page.locator(made).count()).toBe(evil.length);
      expect(await page.locator(`${made} .p-author`).first().textContent()).toBe(evil[0]?.author.name);
      expect(await page.locator(`${made} .p-content`).first().textContent()).toBe(evil[0]?.text.replace("\n", ""));
      const names = await page.evaluate(`[...document.querySelectorAll("${made} *")].map((each) => each.localName)`);
      expect([...new Set(names as string[])].sort()).toEqual(["a", "bdi", "br", "div", "p", "span", "time"]);
      const attributes = `[...document.querySelectorAll("${made} a")].flatMap((each) => each.getAttributeNames())`;
      expect([...new Set((await page.evaluate(attributes)) as string[])].sort()).toEqual(["class", "href", "rel"]);
      const links = await page.evaluate(`[...document.querySelectorAll("${made} a")].map((each) => each.protocol)`);
      expect([...new Set(links as string[])]).toEqual(["https:"]);
      expect(await page.locator("li").nth(3).getAttribute("class")).toBe("h-cite twtxt-is-mention");
      expect(await page.evaluate("typeof hacked")).toBe("undefined");
      expect(requests.filter((url) => !url.startsWith(site.server.url))).toEqual([]);
    });

    it("creates only the allowed elements, even from hostile HTML", async () => {
      const mentions = HOSTILE_TEXTS.map((text, index) =>
        mentionAt(index % 60, {
          source: `https://evil.example/${index}`,
          html: `<p>${text}</p>`,
          type: index % 2 ? "mention" : "reply",
        }),
      );
      const site = await siteWith(listOf([]), (url) => {
        const start = Number(url.searchParams.get("after") ?? 0);
        const next = start + 100 < mentions.length ? String(start + 100) : null;
        return { mentions: mentions.slice(start, start + 100), next };
      });
      const { page, requests } = await openedUntil("live", site.server.url);

      expect(await page.locator("li").count()).toBe(HOSTILE_TEXTS.length);
      const found = await page.evaluate(`
        [...document.querySelectorAll(".p-content *")].map((each) =>
          [each.localName, ...[...each.attributes].map(({ name, value }) => name === "href" ? new URL(value).protocol : name + "=" + value)].join(" "))
      `);
      expect([...new Set(found as string[])].sort()).toEqual([
        "a https: rel=nofollow ugc noopener",
        "code",
        "em",
        "p",
        "p dir=auto",
      ]);
      expect(await page.evaluate("typeof hacked")).toBe("undefined");
      expect(requests.filter((url) => !url.startsWith(site.server.url))).toEqual([]);
    });
  });

  describe("an unavailable list", () => {
    const listThen = (second: Json): Json => {
      return (url, ...parts) =>
        url.searchParams.has("after") ? second(url, ...parts) : { mentions: mentionsAt(9), next: "more" };
    };
    const answers: [string, Json][] = [
      [
        "500",
        (_url, _request, response) => void response.writeHead(500).end(JSON.stringify({ mentions: [], next: null })),
      ],
      ["404 with a page", (_url, _request, response) => void response.writeHead(404).end("<!doctype html>")],
      ["a page", (_url, _request, response) => void response.end("<!doctype html><title>Hello</title>")],
      ["truncated JSON", (_url, _request, response) => void response.end(`{"mentions": [`)],
      ["a broken connection", (_url, request) => void request.socket.destroy()],
      ["null", () => null],
      ["another list", () => mentionsAt(3)],
      ["mentions that are not a list", () => ({ mentions: {}, next: null })],
      ["no field for the next page", () => ({ mentions: [] })],
      [
        "a mention without an author",
        () => ({ mentions: [mentionAt(3), { ...mentionAt(4), author: null }], next: null }),
      ],
      ["a text that is not a string", () => ({ mentions: [{ ...mentionAt(3), text: { toString: 1 } }], next: null })],
      ["a second page that fails", listThen((_url, _request, response) => void response.writeHead(503).end())],
    ];

    it.each(answers)("leaves the built list unchanged: %s", async (_name, json) => {
      const site = await siteWith(listOf(mentionsAt(2, 1)), json);
      const { page } = await openedUntil("offline", site.server.url);

      expect(await shown(page)).toEqual(texts(2, 1));
      expect(await page.evaluate("[counts, changes]")).toEqual([[], []]);
    });

    it("is requested with a timeout of ten seconds", async () => {
      const requested = event();
      const closed = event();
      const site = await siteWith(listOf(mentionsAt(1)), (_url, _request, response) => {
        response.on("close", () => closed.happen());
        requested.happen();
      });
      const { page } = await opened(site.server.url);
      await requested.happened;
      await pass(page, 9_999);
      expect(await page.locator("[data-state]").count()).toBe(0);
      await pass(page, 1);
      await page.locator("[data-state=offline]").waitFor({ state: "attached" });
      await closed.happened;

      expect(await shown(page)).toEqual(texts(1));
    });
  });

  describe("a long list", () => {
    /** Pages of two mentions, newest first. */
    const pagesOf =
      (count: number): Json =>
      (url) => {
        const start = Number(url.searchParams.get("after") ?? count);
        const mentions = mentionsAt(start, start - 1).filter((_, index) => start - index > 0);
        return { mentions, next: start > 2 ? String(start - 2) : null };
      };
    const cursorsOf = (requests: string[]) =>
      requests.map((path) => new URL(path, "http://alice.example").searchParams.get("after"));

    it("is read up to the first mention that the page already has", async () => {
      const site = await siteWith(listOf(mentionsAt(5, 4, 3)), pagesOf(8));
      const { page } = await openedUntil("live", site.server.url);

      expect(await shown(page)).toEqual(texts(8, 7, 6, 5, 4, 3));
      expect(cursorsOf(site.listRequests())).toEqual([null, "6"]);
    });

    it("is read for at most five pages", async () => {
      const site = await siteWith(listOf(mentionsAt(2)), pagesOf(40));
      const { page } = await openedUntil("live", site.server.url);

      expect(await shown(page)).toEqual(texts(40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 2));
      expect(cursorsOf(site.listRequests())).toEqual([null, "38", "36", "34", "32"]);
    });

    it("leaves older mentions to the next page", async () => {
      const site = await siteWith(listOf(mentionsAt(4, 3), { target: null }), all(...mentionsAt(5, 4, 3, 2, 1)));
      const { page } = await openedUntil("live", site.server.url);

      expect(await shown(page)).toEqual(texts(5, 4, 3));
      expect(site.listRequests()).toEqual(["/mentions.json?limit=100"]);
    });

    it("adds older mentions that were held until now to their post", async () => {
      const site = await siteWith(listOf(mentionsAt(4, 3)), all(...mentionsAt(4, 3, 2, 1)));
      const { page } = await openedUntil("live", site.server.url);

      expect(await shown(page)).toEqual(texts(4, 3, 2, 1));
    });

    it("is not updated on its second page", async () => {
      const second = listOf(mentionsAt(1), { target: null, page: 2 });
      const site = await siteWith(`${second}${listOf(mentionsAt(4))}`, all(...mentionsAt(5, 4)));
      const { page } = await openedUntil("live", site.server.url);

      expect(await shown(page)).toEqual(texts(1, 5, 4));
      expect(site.listRequests()).toHaveLength(1);
      expect(await page.locator("[data-page]").getAttribute("data-state")).toBeNull();
    });
  });

  it("updates several lists of a page separately", async () => {
    const other = "https://alice.example/posts/y/";
    const body = `<main>${listOf(mentionsAt(1))}</main><aside>${listOf([], { target: other })}</aside>`;
    const site = await siteWith(body, (url) => {
      const isOther = url.searchParams.get("target") === other;
      return { mentions: isOther ? [mentionAt(7, { target: other })] : mentionsAt(2, 1), next: null };
    });
    const { page } = await opened(site.server.url);
    await settled(page, 2);

    expect(await page.locator("main .p-content").allInnerTexts()).toEqual(texts(2, 1));
    expect(await page.locator("aside .p-content").allInnerTexts()).toEqual(texts(7));
  });

  it("requests its list again when the page becomes visible, at most once a minute, and announces changes", async () => {
    const site = await siteWith(listOf(mentionsAt(1)), all(...mentionsAt(2, 1)));
    const { page } = await openedUntil("live", site.server.url);
    const isLive = page.locator("twtxt-mentions[aria-live=polite]");
    expect(await isLive.count()).toBe(0);
    await pass(page, MINUTE);
    await look(page, "hidden");
    expect(await page.evaluate("requestCount")).toBe(1);
    await look(page);
    await settled(page, 2);
    await pass(page, MINUTE - 1);
    await look(page);
    expect(await page.evaluate("requestCount")).toBe(2);
    site.json = all(...mentionsAt(3, 2, 1));
    await pass(page, 1);
    await look(page);
    await settled(page, 3);

    expect(await shown(page)).toEqual(texts(3, 2, 1));
    expect(await isLive.count()).toBe(1);
    expect(site.listRequests()).toHaveLength(3);
  });

  it("cancels its request when it is removed from the page, and sends a new one when it is inserted again", async () => {
    const requested = event();
    const closed = event();
    const site = await siteWith(listOf(mentionsAt(1)), (_url, _request, response) => {
      response.on("close", () => closed.happen());
      requested.happen();
    });
    const { page } = await opened(site.server.url);
    await requested.happened;
    await page.evaluate(`(globalThis.list = document.querySelector("twtxt-mentions")).remove()`);
    await closed.happened;
    await pass(page, MINUTE);
    await look(page);
    expect(await page.evaluate("[requestCount, list.dataset.state ?? null]")).toEqual([1, null]);
    site.json = all(...mentionsAt(2, 1));
    await page.evaluate("document.body.append(list)");
    await settled(page, 1);

    expect(await shown(page)).toEqual(texts(2, 1));
    expect(await page.locator("[data-state=live]").count()).toBe(1);
  });

  it("waits for its list if the script runs before the page is parsed", async () => {
    const [start = "", end = ""] = listOf(mentionsAt(1)).split("<ol");
    const early = `<!doctype html><script type="module" async src="/twtxt-mentions.js"></script>${start}<script>
      customElements.whenDefined("twtxt-mentions").then(() => fetch("/rest"));
    </script>`;
    const script = await readFile(SCRIPT);
    let sendRest = () => {};
    const server = await loopbackServer(({ url }, response) => {
      if (url === "/twtxt-mentions.js") response.setHeader("content-type", "text/javascript").end(script);
      else if (url?.startsWith("/mentions.json"))
        response.end(JSON.stringify({ mentions: mentionsAt(2, 1), next: null }));
      else if (url === "/") {
        response.setHeader("content-type", "text/html; charset=utf-8").write(early);
        sendRest = () => response.end(`<ol${end}`);
      } else {
        response.end();
        sendRest();
      }
    });
    const { page } = await openedUntil("live", server.url);

    expect(await shown(page)).toEqual(texts(2, 1));
    expect(await page.locator("ol").count()).toBe(1);
    const order = server.requests.map((path) => path.replace(/\?.*/, "")).filter((path) => path !== "/favicon.ico");
    expect(order).toEqual(["/", "/twtxt-mentions.js", "/rest", "/mentions.json"]);
  });
});

describeInChromium("<twtxt-mentions> of a timeline", () => {
  const HOUR_LATER = "2026-01-02T04:00:00Z";

  function twtAt(minute: number, change: Partial<TimelineTwt> = {}): TimelineTwt {
    const { source, author, text } = mentionAt(minute);
    return {
      ...{ source, author, text, html: `<p>${text}</p>`, isOwn: false, replyTo: null },
      hash: `hash${minute}`,
      hashV1: `h${minute}`,
      published: `2026-01-02T03:${String(minute).padStart(2, "0")}:00Z`,
      ...change,
    };
  }

  const unread: UnreadFeed = {
    ...{ nick: "carol", url: "https://carol.example/twtxt.txt", reason: "slow" },
    lastRead: "2025-12-30T04:00:00Z",
  };
  const own = twtAt(3, { source: "https://alice.example/notes/1/", isOwn: true, replyTo: "hash1" });
  const withPages = twtAt(2, {
    url: "https://bob.example/hens/",
    author: { name: "bob 2", url: "https://bob.example/twtxt.txt", page: "https://bob.example/", photo: null },
  });
  const whole: Timeline = {
    updated: HOUR_LATER,
    twts: [twtAt(5, { replyTo: "h3" }), own, withPages, twtAt(1)],
    unread: [unread],
  };

  const pageOf = (timeline: Timeline) => timelineHtml(timeline, listOptions({ style: null, target: null }));
  const domOf = async (page: Page) =>
    String(await page.evaluate("document.querySelector('twtxt-mentions').innerHTML"))
      .replace(/\s+/g, " ")
      .replaceAll("> <", "><")
      .trim();

  it("creates the same DOM as the build, from an older page and from an equal one", async () => {
    const older: Timeline = { updated: "2026-01-02T03:00:00Z", twts: [twtAt(1), twtAt(0)], unread: [] };
    const pages = [];
    for (const timeline of [older, whole]) {
      const site = await siteWith(pageOf(timeline), () => whole);
      const { page } = await openedUntil("live", site.server.url);
      expect(await page.locator("ol.twtxt-mentions > li .twtxt-name").allInnerTexts()).toEqual([
        ...["bob 1", "bob 3", "bob 5", "bob 2"],
      ]);
      expect(await page.locator(".twtxt-unread li").allInnerTexts()).toEqual([
        "@carol does not answer in time (last read 3 days ago)",
      ]);
      expect(await page.locator("twtxt-mentions").getAttribute("data-updated")).toBe(HOUR_LATER);
      pages.push(await domOf(page));
    }
    expect(pages[0]).toBe(pages[1]);
    expect(pages[0]).toContain('href="https://bob.example/hens/"');
    expect(pages[0]).toContain('href="https://bob.example/"');
    const site = await siteWith(pageOf(whole), () => whole);
    const { page } = await opened(site.server.url, { javaScriptEnabled: false });
    await page.locator(".twtxt-unread li").waitFor();
    expect(pages[1]).toBe(await domOf(page));
  });

  it("has as many conversations on the first page of several as the build", async () => {
    const first = pageOf({ ...whole, updated: "2026-01-02T03:00:00Z", twts: [twtAt(1)] }).replace(
      "<twtxt-mentions ",
      '$&data-per-page="1" ',
    );
    const site = await siteWith(first, () => whole);
    const { page } = await openedUntil("live", site.server.url);

    expect(await page.locator("ol.twtxt-mentions > li .twtxt-name").allInnerTexts()).toEqual([
      "bob 1",
      "bob 3",
      "bob 5",
    ]);
  });

  it("keeps the built list if it is newer than the site's list", async () => {
    const site = await siteWith(pageOf(whole), () => ({
      ...whole,
      updated: "2026-01-02T03:59:59Z",
      twts: [],
      unread: [],
    }));
    const { page } = await openedUntil("live", site.server.url);
    expect(await page.locator("li.h-cite").count()).toBe(4);
  });

  it.each([
    ["never", null, ["bob 4", "bob 1", "bob 3", "bob 5"]],
    ["before the build", "2026-01-02T02:00:00Z", ["bob 4", "bob 1", "bob 3", "bob 5"]],
    ["after the build", "2026-01-02T03:59:00Z", ["bob 4"]],
  ])(
    "keeps newer twts of a feed that the host cannot read, with the author's replies: last read %s",
    async (_, lastRead, names) => {
      const dave = { name: "bob 4", url: "https://dave.example/tw.txt", photo: null };
      const other = twtAt(4, { source: "https://dave.example/tw.txt#:~:text=2026-01-02T03:04:00Z", author: dave });
      const gone = { ...twtAt(2), source: "https://dave.example/tw.txt#:~:text=2026-01-02T03:02:00Z" };
      const twts = [twtAt(5, { replyTo: "h3" }), own, gone, twtAt(1)];
      const site = await siteWith(pageOf({ updated: "2026-01-02T03:30:00Z", twts, unread: [] }), () => ({
        ...{ updated: HOUR_LATER, twts: [other] },
        unread: [{ nick: "bob", url: "https://bob.example/twtxt.txt", reason: "unreachable", lastRead }],
      }));
      const { page } = await openedUntil("live", site.server.url);
      const shown = await page.locator("ol.twtxt-mentions > li .twtxt-name").allInnerTexts();
      expect(shown.toSorted()).toEqual(names.toSorted());
      expect(await page.locator(".twtxt-unread li").count()).toBe(1);
    },
  );

  it.each([
    ["an error", (_url, _request, response) => void response.writeHead(500).end()],
    ["a list of mentions", () => ({ mentions: [], next: null })],
    ["a twt without an author", () => ({ ...whole, twts: [{ ...own, author: null }] })],
  ] satisfies [string, Json][])("keeps the built list if the response is %s", async (_, json) => {
    const site = await siteWith(pageOf(whole), json);
    const { page } = await openedUntil("offline", site.server.url);
    expect(await page.locator("li.h-cite").count()).toBe(4);
    expect(await page.locator(".twtxt-unread li").count()).toBe(1);
  });

  it("creates only the allowed elements and links, even from hostile HTML", async () => {
    const twts = HOSTILE_TEXTS.map((text, index) =>
      twtAt(index % 60, {
        source: `https://evil.example/${index}`,
        html: `<p>${text}</p>`,
        hash: `${index}`,
        hashV1: "",
      }),
    );
    const evil = { ...unread, nick: "<b>eve</b>", url: "javascript:alert(1)", reason: "constructor" };
    const site = await siteWith(pageOf({ ...whole, twts: [] }), () => ({ ...whole, twts, unread: [evil] }));
    const { page, requests } = await openedUntil("live", site.server.url);
    expect(await page.locator("li.h-cite").count()).toBe(HOSTILE_TEXTS.length);
    const names = await page.evaluate(
      `[...document.querySelectorAll("twtxt-mentions *")].map((each) => each.localName)`,
    );
    expect([...new Set(names as string[])].sort()).toEqual([
      "a",
      "bdi",
      "code",
      "details",
      "div",
      "em",
      "h2",
      "li",
      "ol",
      "p",
      "section",
      "span",
      "summary",
      "time",
      "ul",
    ]);
    const links = await page.evaluate(
      `[...document.querySelectorAll("twtxt-mentions a")].map((each) => each.protocol)`,
    );
    expect([...new Set(links as string[])]).toEqual(["https:"]);
    expect(await page.locator(".twtxt-unread li").innerText()).toContain("@<b>eve</b> answers with an error");
    expect(requests.filter((url) => !url.startsWith(site.server.url))).toEqual([]);
  });
});
