// test/helpers/commented-blog.ts: a blog with comments, built by the real Eleventy and served with its endpoints on loopback.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openReaders } from "../../plugin/host/answers.js";
import { nodeServer } from "../../plugin/host/node-server.js";
import { rateLimit } from "../../plugin/host/rate-limit.js";
import { siteFiles } from "../../plugin/host/site-files.js";
import { siteServices } from "../../plugin/host/site-services.js";
import { BackgroundWork } from "../../plugin/host/work.js";
import { signRequest } from "../../plugin/http/sign-request.js";
import type { ManagedMention } from "../../plugin/mentions/receive/managed-mention.js";
import { parsePublishedSite } from "../../plugin/site/site.js";
import { memoryStore } from "../../plugin/store/memory.js";
import { ALICE } from "./commenter.js";
import { afterAll } from "./hooks.js";
import { freePort } from "./ports.js";
import { post, site } from "./site.js";

const LAYOUT = `<!doctype html>
<html lang="{{ lang or "en" }}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{{ title or page.url }}</title>
<style>body { font: 1rem/1.5 sans-serif; max-width: 40rem; margin: 1rem auto; padding: 0 1rem }</style>
<main><h1>{{ title or page.url }}</h1>
{{ content | safe }}
{% twtxtMentions %}</main>
</html>`;

export interface CommentedBlog {
  url: string;
  /** The mentions in a state, newest first, as the author lists them. */
  list(state: string): Promise<ManagedMention[]>;
  /** Approves all held comments. */
  approve(): Promise<void>;
  /** Confirms all mail addresses. @returns them */
  confirmAddresses(): Promise<string[]>;
  /** Reads the threads of the copies of its posts. */
  readThreads(): Promise<void>;
  /** Closes a post after its page was built. */
  close(path: string): void;
  /** Fails all requests to the endpoints from now on. */
  isDown: boolean;
}

const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A blog with the posts "quinces", "medlars", which is closed, and "jam", a reply to Dana that the author can publish. */
export async function commentedBlog(
  options = "mentions: { comments: true }",
  others = {},
  { hasMail = true, hosts = [] }: { hasMail?: boolean; hosts?: readonly string[] } = {},
): Promise<CommentedBlog> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const built = await site({
    files: {
      "_includes/base.njk": LAYOUT,
      "posts/quinces.md": post(
        { date: "2026-11-18T03:04:05Z", tags: "posts", layout: "base.njk", title: "Quinces" },
        "Ripe.",
      ),
      "posts/medlars.md": post(
        { date: "2026-11-18T04:04:05Z", tags: "posts", layout: "base.njk", title: "Medlars", comments: false },
        "Not yet.",
      ),
      ...others,
    },
    options: `{ url: "${url}", host: "node", key: "${ALICE.publicKey}", ${options} }`,
    now: null,
  });
  const published = parsePublishedSite(readFileSync(join(built.folder, ".eleventy-twtxt/host.json"), "utf8"));
  const store = memoryStore();
  const services = siteServices({
    ...published,
    store,
    environment: hasMail ? { TWTXT_SMTP_URL: "smtp://127.0.0.1:9?from=blog@alice.example" } : {},
    authority: new URL(url).host,
    client: "eleventy-plugin-twtxt/0",
    guard: { allowPrivateHosts: hosts },
    now: Date.now,
    log: () => {},
    purge: null,
    isMetered: false,
    isLive: false,
    streams: { isDefault: false, streamMs: 0, lookMs: 0 },
    background: new BackgroundWork().add,
  });
  const folder = join(built.folder, "_site");
  const blog: CommentedBlog = {
    url,
    isDown: false,
    close(path) {
      published.pages.closed = [url + path];
    },
    async list(state) {
      return (await ask(`?state=${state}`)).mentions;
    },
    async confirmAddresses() {
      const { readers } = openReaders({ store, now: Date.now });
      const all = Object.entries(await readers.readAll());
      for (const [guest] of all) await readers.confirm(guest);
      return all.map(([, { address }]) => address);
    },
    async readThreads() {
      await ask("/verify", {});
    },
    async approve() {
      for (const { id, version } of await blog.list("held")) await ask(`/${id}`, { state: "shown" }, version ?? "");
    },
  };
  const ask = async (path: string, json?: object, version = "") => {
    const request = { method: json ? "POST" : "GET", url: `${url}/api/v1/mentions${path}` };
    const body = json && Buffer.from(JSON.stringify(json));
    const headers = body ? { "content-type": "application/json", "if-match": `"${version}"` } : {};
    const signed = signRequest({ ...request, headers, ...(body && { body }) }, ALICE, Date.now());
    const response = await fetch(request.url, {
      method: request.method,
      headers: { ...headers, ...signed },
      body: body ?? null,
    });
    return Object(await response.json());
  };
  const { close } = await nodeServer({
    port,
    host: "127.0.0.1",
    origin: url,
    findEndpoint: (path) => {
      if (blog.isDown) throw new Error("The site is down.");
      return services.endpointAt(path);
    },
    serveFile: siteFiles({ folder, published: folder, prefix: "", feedPath: "/twtxt.txt", endpoint: null }),
    rateLimit: rateLimit({ perMinute: 0, now: Date.now }),
    trustedProxies: 0,
    log: () => {},
  });
  ends.push(close);
  return blog;
}
