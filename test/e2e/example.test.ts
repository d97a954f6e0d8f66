import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import matter from "gray-matter";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TwtxtError } from "../../plugin/errors.js";
import { type ParsedFeed, parseFeed } from "../../plugin/feed/feed.js";
import type { HttpResponse } from "../../plugin/http/respond.js";
import { explanationPage, outcomePage, refusalPage } from "../../plugin/mentions/receive/endpoint-page.js";
import { describeInChromium, violationsInSchemes } from "../helpers/chromium.js";
import { longConversation } from "../helpers/long-conversation.js";
import { openTab } from "../helpers/tabs.js";

const repo = fileURLToPath(new URL("../../", import.meta.url));
const output = mkdtempSync(join(tmpdir(), "twtxt-example-"));
const feeds: ParsedFeed[] = [];
const KEY = "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077";
const POST = "/2026/quinces/";
const TYPES: Record<string, string> = { ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" };

/** Serves the example as its host does: with mentions, and with the endpoint's pages. */
const server = createServer(async ({ url: path = "/" }, response) => {
  const { pathname, search } = new URL(path, url);
  if (pathname === "/mentions.json")
    return response.end(JSON.stringify({ mentions: longConversation(url + POST), next: null }));
  const file = join(output, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
  const isFile = pathname !== "/webmention" && existsSync(file);
  response.setHeader("content-type", TYPES[extname(file)] ?? "text/html; charset=utf-8");
  response.end(isFile ? readFileSync(file) : endpointPage(search).body);
});
let url = "";

function endpointPage(search: string): HttpResponse {
  const site = { feedUrl: `${url}/twtxt.txt` };
  const form = { source: "https://bob.example/", target: url + POST };
  if (search === "?stored") return outcomePage("stored", { status: 200, target: form.target }, site);
  if (search === "?refused") return refusalPage(new TwtxtError("no-such-mention", "There is no link."), form, site);
  return explanationPage(site);
}

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { ...process.env, SITE_URL: url, SITE_KEY: KEY };
  const args = ["--import", "tsx", "node_modules/@11ty/eleventy/cmd.cjs", "--config=.eleventy.ts", "--quiet"];
  await promisify(execFile)(process.execPath, [...args, `--output=${output}`], { cwd: repo, env });
  for (let name: string | undefined = "twtxt.txt"; name; name = feeds.at(-1)?.fields.prev?.[0]?.split(" ")[1]) {
    feeds.push(parseFeed(readFileSync(join(output, name))));
  }
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(output, { recursive: true, force: true });
});

describe("the example", () => {
  it("has each post in the feed or in an archive, and no line that the parser skips", () => {
    const folder = join(repo, "site-example/posts");
    const posts = readdirSync(folder)
      .filter((name) => name.endsWith(".md"))
      .map((name) => matter(readFileSync(join(folder, name), "utf8")).data)
      .filter(({ twt }) => twt !== false);
    const twts = feeds.flatMap((feed) => feed.twts);

    expect(feeds.length).toBe(2);
    expect(feeds.map(({ skippedLines }) => skippedLines)).toEqual([0, 0]);
    expect(twts.length).toBe(posts.length);
    for (const { title } of posts) if (title) expect(twts.some(({ text }) => text.startsWith(title))).toBe(true);
  });

  it("has twts with a reply, mentions, several lines and an image", () => {
    const twts = feeds.flatMap((feed) => feed.twts);
    expect(twts.filter(({ subject }) => subject !== null).length).toBe(1);
    expect(twts.filter(({ mentions }) => mentions.length > 0).length).toBeGreaterThan(2);
    expect(twts.some(({ text }) => text.includes("\u2028"))).toBe(true);
    expect(twts.some(({ text }) => text.match(/!\[.+\]\((.+?)\)/)?.[1]?.startsWith(`${url}/`))).toBe(true);
  });
});

describeInChromium("the pages of the example and of its endpoint", () => {
  it("have no violations that axe finds, in light and dark mode", async () => {
    const page = await openTab();
    const found: Record<string, string[]> = {};
    for (const path of [
      "/",
      POST,
      "/mentions/",
      "/contact/",
      "/webmention",
      "/webmention?stored",
      "/webmention?refused",
    ]) {
      await page.goto(url + path);
      found[path] = await violationsInSchemes(page);
    }

    expect(Object.keys(found)).toHaveLength(7);
    expect(Object.fromEntries(Object.entries(found).filter(([, violations]) => violations.length > 0))).toEqual({});
  });
});
