// test/bench/contact-form.ts: the time in which the contact form seals a message, in Chromium.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { sealGuestMessage } from "../../plugin/browser/guest-key.js";
import { PageAssets } from "../../plugin/eleventy/pages/page-assets.js";
import { SiteContact } from "../../plugin/eleventy/pages/site-contact.js";
import { builtSite } from "../helpers/built-site.js";
import { hasChromium, launchChromium } from "../helpers/launch-chromium.js";
import { endOnStop } from "./child.js";
import { median, type Part, range, time } from "./table.js";

const KEY = "kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg";
const BYTES = 1024;
const TEXT = "quince, ".repeat(BYTES / 8);
const NAME = "Dana";
const SEED = crypto.getRandomValues(new Uint8Array(32));
const ALICE = { address: "alice@alice.example", key: KEY };

/** The form creates an id right before it seals, and waits for its database after sealing. */
const STOPWATCH = `
  globalThis.sealing = [];
  const { randomUUID } = Crypto.prototype;
  Crypto.prototype.randomUUID = function () {
    const start = performance.now();
    queueMicrotask(() => sealing.push(performance.now() - start));
    return randomUUID.call(this);
  };
`;

/** @param entry - the URL of the package's compiled main entry */
export async function measureContactForm(entry: string, runs: number, stop: AbortSignal): Promise<Part> {
  const chromium = hasChromium() ? await sealInChromium(entry, runs, stop) : null;
  const node = Array.from({ length: runs }, sealInNode);
  const series = { ...(chromium && { Chromium: chromium }), [`Node.js ${process.version}, the same code`]: node };
  const rows = Object.entries(series).map(([name, times]) => [
    name,
    time(median(times)),
    range(times),
    time(times[0] ?? Number.NaN),
  ]);
  return {
    title: `The contact form: sealing a message of ${BYTES} bytes, median of ${runs}`,
    rows: [["In", "time", "least to most", "the first"], ...rows],
    aims: [
      {
        what: "The first message in Chromium",
        aim: "below 100 ms",
        reached: chromium === null ? "no Chromium" : time(chromium[0] ?? Number.NaN),
      },
    ],
    note: "The scripts are those of the package, in a page as a build writes it. The time includes making the reader's key pair from its seed, sealing to the author and the reader, and armor. Most readers write one message, which takes as long as the first.",
    figures: series,
  };
}

/** @returns the milliseconds of each message */
async function sealInChromium(entry: string, runs: number, stop: AbortSignal): Promise<number[]> {
  const site = await serveForm((file) => readFile(new URL(`browser/${file}`, entry), "utf8"));
  const browser = await launchChromium();
  const close = endOnStop(stop, () => browser.close());
  try {
    const page = await browser.newPage();
    await page.addInitScript(STOPWATCH);
    await page.goto(site.url);
    for (let run = 0; run < runs; run += 1) await sendMessage(page, run);
    const times: number[] = await page.evaluate("sealing");
    if (times.length !== runs) throw new Error(`${runs} messages were sent, but ${times.length} were measured.`);
    return times;
  } finally {
    await close();
    site.close();
  }
}

/** Sends a message from the form. @param earlier - the number of messages that the page shows */
async function sendMessage(page: Page, earlier: number): Promise<void> {
  await page.getByLabel("Your message").fill(TEXT);
  await page.getByLabel("Your name (optional)").fill(NAME);
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator(".twtxt-sent:not(:has(.twtxt-note))").nth(earlier).waitFor();
}

/** @returns milliseconds */
function sealInNode(): number {
  const start = performance.now();
  sealGuestMessage({ text: TEXT, name: NAME, time: "2026-11-20T09:12:00.000Z" }, SEED, ALICE);
  return performance.now() - start;
}

/** A site with a contact page that accepts every message and has no answers. */
async function serveForm(readAsset: (file: string) => Promise<string>) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { urls } = builtSite(url, { key: KEY, mentions: false });
  const assets = new PageAssets(urls, readAsset);
  const form = new SiteContact(urls, assets);
  const files = new Map((await assets.files()).map(({ path, content }) => [path, content]));
  server.on("request", (request, response) => {
    const path = new URL(request.url ?? "/", url).pathname;
    const script = files.get(path);
    if (script !== undefined)
      response.setHeader("content-type", path.endsWith(".css") ? "text/css" : "text/javascript");
    if (script !== undefined) return response.end(script);
    if (path.startsWith("/.well-known/")) return response.end(JSON.stringify({ key: KEY }));
    if (path.startsWith("/inbox/")) return response.writeHead(request.method === "POST" ? 202 : 200).end("[]");
    response.setHeader("content-type", "text/html; charset=utf-8").end(`<!doctype html>${form.html()}`);
  });
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `${url}/contact/`, close };
}
