// test/helpers/tabs.ts: tabs of Chromium that the tests of a worker use one after another.
//
// A new context starts a process, which costs three times as much processor time as a page in an open tab. So a test creates
// a context only if it needs its own options, history or cookies.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext, CDPSession, Page } from "playwright-core";
import { sharedChromium } from "./chromium.js";
import { afterAll, afterEach } from "./hooks.js";
import { LONGEST_MS } from "./longest.js";

interface Tab {
  page: Page;
  devtools: CDPSession;
  /** The origins of its pages since the last test. */
  origins: Set<string>;
  /** The end of each script that runs first in its pages. */
  scripts: (() => Promise<unknown>)[];
}

/** A script for a page that looks five times as often whether what it shows has changed, such as the progress of an upload. */
export const LOOK_OFTEN = `
  const { setInterval } = globalThis;
  globalThis.setInterval = (work, milliseconds) => setInterval(work, milliseconds / 5);
`;
/** A script for a page whose pauses of a few seconds are ten times shorter. Longer ones are time limits. */
export const SHORT_PAUSES = `
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (work, milliseconds = 0, ...given) =>
    setTimeout(work, milliseconds > 5000 ? milliseconds : milliseconds / 10, ...given);
`;

/** The events that tests listen to. */
const EVENTS = ["console", "dialog", "request", "requestfailed", "requestfinished"];
const VIEWPORT = { width: 1280, height: 720 };

let context: Promise<BrowserContext> | undefined;
const tabs: Tab[] = [];
/** The number of tabs that the current test has opened. */
let opened = 0;
/** Whether a test of the current file has opened a tab. */
let hasOpened = false;
/** The URL of a blank page: `about:blank` would end the process of the tab. */
let blankPage: string | undefined;

afterEach(() => {
  opened = 0;
});

// A page that is left open would continue its animations and requests.
afterAll(async () => {
  if (!hasOpened) return;
  hasOpened = false;
  blankPage ??= await serveBlankPage();
  await Promise.all(tabs.map(({ page }) => page.goto(blankPage ?? "about:blank")));
});

/** Opens a tab without data, permissions and listeners of other tests. The tabs of one test share their data. */
export async function openTab({ viewport = VIEWPORT, script = "" } = {}): Promise<Page> {
  context ??= newContext();
  hasOpened = true;
  if (opened === 0) await clear(await context);
  tabs[opened] ??= await newTab(await context);
  const tab = tabs[opened] as Tab;
  opened += 1;
  const { page, scripts } = tab;
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme: "light" });
  if (script !== "") {
    const added = await page.addInitScript(script);
    scripts.push(() => added.dispose());
  }
  return page;
}

async function serveBlankPage(): Promise<string> {
  const server = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end());
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function newContext(): Promise<BrowserContext> {
  return (await sharedChromium()).newContext();
}

async function newTab(context: BrowserContext): Promise<Tab> {
  const page = await context.newPage();
  page.setDefaultTimeout(LONGEST_MS / 3);
  const origins = new Set<string>();
  page.on("framenavigated", (frame) => origins.add(new URL(frame.url()).origin));
  return { page, devtools: await context.newCDPSession(page), origins, scripts: [] };
}

/** Removes the data of earlier tests. */
async function clear(context: BrowserContext): Promise<void> {
  await Promise.all([context.clearCookies(), context.clearPermissions(), context.setOffline(false)]);
  for (const { page, devtools, origins, scripts } of tabs) {
    for (const event of EVENTS) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    for (const end of scripts.splice(0)) await end();
    for (const origin of origins) {
      if (origin !== "null") await devtools.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
    }
    origins.clear();
  }
}
