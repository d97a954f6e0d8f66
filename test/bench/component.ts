// test/bench/component.ts: the time of the component in a browser, with a long conversation.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { SiteConversations } from "../../plugin/eleventy/mentions/conversations.js";
import { conversationHtml } from "../../plugin/eleventy/mentions/mention-html.js";
import type { PublicMention } from "../../plugin/site/mention-list.js";
import { hasChromium, launchChromium } from "../helpers/launch-chromium.js";
import { listOptions } from "../helpers/list-options.js";
import { endOnStop } from "./child.js";
import { median, type Part, range, time } from "./table.js";

const POST = "https://alice.example/posts/x/";
const MENTIONS = 2000;
/** The number of mentions in one response of the server. */
const PAGE = 100;

/**
 * Sums the time from each answer until the next request, or until the list is shown. Chromium's ScriptDuration does
 * not include the code after a promise, which is all of the component's work.
 */
const STOPWATCH = `
  globalThis.scripting = 0;
  let start = 0;
  const stop = () => { if (start > 0) scripting += performance.now() - start; start = 0; };
  const { fetch } = globalThis;
  globalThis.fetch = (...request) => { stop(); return fetch(...request); };
  const { json } = Response.prototype;
  Response.prototype.json = async function () {
    const value = await json.call(this);
    start = performance.now();
    return value;
  };
  addEventListener("twtxt-mentions", stop);
`;

/** The cost of a page load, in milliseconds: the component's scripting, and all tasks of the page. */
interface Load {
  script: number;
  task: number;
}

/** @param entry - the URL of the package's compiled main entry */
export async function measureComponent(entry: string, runs: number, stop: AbortSignal): Promise<Part> {
  const asset = (file: string) => readFile(new URL(`browser/${file}`, entry));
  const [script, style] = await Promise.all([asset("twtxt-mentions.js"), asset("twtxt.css")]);
  const loads = hasChromium() ? await loadsOf({ script, style }, runs, stop) : {};
  const rows = Object.entries(loads).map(([name, series]) => {
    const scripts = series.map((load) => load.script);
    return [name, time(median(scripts)), range(scripts), time(median(series.map(({ task }) => task)))];
  });
  const slowest = Math.max(...Object.values(loads).map((series) => median(series.map((load) => load.script))));
  return {
    title: `The component: ${MENTIONS} mentions under a post, in Chromium`,
    rows: [["A page load", "scripting", "least to most", "main thread"], ...rows],
    aims: [
      {
        what: "Scripting of the slowest",
        aim: "below 200 ms",
        reached: rows.length > 0 ? time(slowest) : "no Chromium",
      },
    ],
    note: "Half of the mentions are replies in threads, half are likes. Scripting is that of the component alone; the main thread also parses, styles and draws the page.",
    figures: loads,
  };
}

async function loadsOf(
  assets: { script: Buffer; style: Buffer },
  runs: number,
  stop: AbortSignal,
): Promise<Record<string, Load[]>> {
  const mentions = Array.from({ length: MENTIONS }, (_, index) => mentionAt(MENTIONS - index));
  const edited = mentions.map((mention, index) => (index < PAGE ? { ...mention, html: "<p>edited</p>" } : mention));
  const cases = {
    "as built": { built: mentions, live: mentions },
    "100 new": { built: mentions.slice(PAGE), live: mentions },
    "100 edited": { built: mentions, live: edited },
    "without a list of the build": { built: [], live: mentions },
  };
  const browser = await launchChromium();
  const close = endOnStop(stop, () => browser.close());
  try {
    const loads: Record<string, Load[]> = {};
    for (const [name, { built, live }] of Object.entries(cases)) {
      const site = await serve({ page: htmlOf(built), live, ...assets });
      const series: Load[] = [];
      for (let run = 0; run < runs; run += 1) series.push(await load(browser, site.url));
      loads[name] = series;
      site.close();
    }
    return loads;
  } finally {
    await close();
  }
}

async function load(browser: Browser, url: string): Promise<Load> {
  const page = await browser.newPage();
  await page.addInitScript(STOPWATCH);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  await page.goto(url);
  await page.locator("twtxt-mentions[data-state=live]").waitFor({ state: "attached" });
  const { metrics } = await session.send("Performance.getMetrics");
  const script = Number(await page.evaluate("scripting"));
  await page.close();
  return { script, task: (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1000 };
}

/** The page of a build with these mentions. */
function htmlOf(mentions: readonly PublicMention[]): string {
  return conversationHtml(new SiteConversations(mentions, []).of(POST), listOptions({ target: POST }));
}

function mentionAt(number: number): PublicMention {
  const instant = new Date(Date.UTC(2026, 0, 2) + number * 60_000).toISOString();
  const url = `https://bob${number}.example/`;
  const isReply = number % 2 === 0;
  return {
    source: `${url}twtxt.txt#:~:text=${instant.slice(0, 19)}Z`,
    target: POST,
    under: null,
    type: isReply ? "reply" : "like",
    author: { name: `bob ${number}`, url, photo: null },
    text: `hello ${number}`,
    html: `<p>hello ${number}, see <a href="${url}">${url}</a> and <code>npm ci</code></p>`,
    hash: `hash${number}`,
    hashV1: `h${number}`,
    replyTo: isReply && number % 8 > 0 ? `hash${number - 2}` : null,
    published: `${instant.slice(0, 19)}Z`,
    received: instant,
  };
}

async function serve(site: { page: string; live: readonly PublicMention[]; script: Buffer; style: Buffer }) {
  const server = createServer(({ url = "/" }, response) => {
    const { pathname, searchParams } = new URL(url, POST);
    const start = Number(searchParams.get("after") ?? 0);
    const next = start + PAGE < site.live.length ? String(start + PAGE) : null;
    const answers: Record<string, [type: string, content: string | Buffer]> = {
      "/twtxt-mentions.js": ["text/javascript", site.script],
      "/twtxt.css": ["text/css", site.style],
      "/mentions.json": ["application/json", JSON.stringify({ mentions: site.live.slice(start, start + PAGE), next })],
    };
    const [type, content] = answers[pathname] ?? ["text/html; charset=utf-8", `<!doctype html>${site.page}`];
    response.setHeader("content-type", type).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}
