// .eleventy.ts: this repository's own site, site-example/, built with the plugin from source.
import type { IncomingMessage, ServerResponse } from "node:http";
import { twtxt } from "./build/plugin-from-source.js";
import type { EleventyConfig } from "./plugin/eleventy/eleventy.js";
import type { Post } from "./plugin/index.js";

/** The part of Eleventy's configuration that this file uses. */
interface SiteConfig extends EleventyConfig {
  addPlugin<Options>(plugin: (config: EleventyConfig, options: Options) => void, options: Options): void;
  addPassthroughCopy(path: string): void;
  setServerOptions(options: { middleware: (typeof textIsUtf8)[]; ready(server: DevServer): void }): void;
}

interface DevServer {
  getServerUrl(host: string, path: string): string;
}

/** Set by `npm start`: the URL on this machine, the author's key, and the URL of the second blog. */
const { SITE_URL, SITE_KEY, NEIGHBOUR_URL, NETLIFY, NETLIFY_LOCAL } = process.env;
const url = SITE_URL ?? "https://alice.example";
const host = SITE_URL ? "node" : NETLIFY || NETLIFY_LOCAL ? "netlify" : "static";

const ADDRESSES = ["/", "/twtxt.txt", "/twtxt-2024.txt"];

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

export default function (config: SiteConfig) {
  config.addPlugin(twtxt, {
    url,
    host,
    ...(SITE_KEY ? { key: SITE_KEY, blobs: true } : {}),
    nick: "alice",
    description: "Beans, bread and bicycles, written down.",
    lang: "en",
    avatar: `${url}/images/alice.png`,
    link: [{ text: "Alice's pages", url: `${url}/` }],
    layout: "page.njk",
    mentions: { headingLevel: 3, comments: Boolean(SITE_KEY) },
    follow: [
      { nick: "bob", url: `${NEIGHBOUR_URL ?? "https://bob.example"}/twtxt.txt` },
      { nick: "carol", url: "https://carol.example/twtxt.txt" },
      { nick: "erin", url: "https://erin.example/tw.txt" },
    ],
  });

  // The scripts of `npm start`, and the second blog.
  config.ignores.add("site-example/start/**");
  config.addPassthroughCopy("site-example/css");
  config.addPassthroughCopy("site-example/images");

  config.addFilter("day", (date: Date) => day.format(date));
  config.addFilter("time", (date: Date) => (hasTime(date) ? date.toISOString().slice(11, 16) : ""));
  config.addFilter("iso", (date: Date) =>
    hasTime(date) ? date.toISOString().replace(".000Z", "Z") : date.toISOString().slice(0, 10),
  );
  config.addFilter("byYear", byYear);
  // A line break inside a twt is U+2028, for which Nunjucks has no escape.
  config.addFilter("lines", (text: string) => text.split("\u2028"));

  config.setServerOptions({ middleware: [textIsUtf8], ready: (server) => printAddresses(config, server) });

  return { dir: { input: "site-example", output: "_site" }, markdownTemplateEngine: "njk" };
}

/** A date without a time is parsed as midnight UTC. */
function hasTime(date: Date): boolean {
  return date.getTime() % 86_400_000 !== 0;
}

/** The years, newest first, each with its posts, newest first. */
function byYear(posts: readonly Post[]): { year: number; posts: Post[] }[] {
  const years = [...new Set(posts.map(({ date }) => date.getUTCFullYear()))].sort((a, b) => b - a);
  return years.map((year) => ({ year, posts: posts.filter(({ date }) => date.getUTCFullYear() === year).reverse() }));
}

/** Prints the URLs when the server listens, because it uses another port if one is taken. */
function printAddresses(config: SiteConfig, server: DevServer): void {
  for (const path of ADDRESSES) {
    config.logger.logWithOptions({
      message: server.getServerUrl("localhost", path),
      prefix: "[site-example]",
      color: "cyan",
      force: true,
    });
  }
}

/** Adds the charset to plain text: Eleventy's server sends none, and browsers do not guess UTF-8. */
function textIsUtf8(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  if (request.url?.endsWith(".txt")) response.setHeader("Content-Type", "text/plain; charset=utf-8");
  next();
}
