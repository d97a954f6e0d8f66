// test/client/write-on-your-site.test.ts: a draft in the layout of its site, built by the real Eleventy in a process of its own.
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { describeInChromium } from "../helpers/chromium.js";
import { eventually } from "../helpers/eventually.js";
import { loopbackServer } from "../helpers/loopback.js";
import { type BuiltSite, post, site } from "../helpers/site.js";
import { type ClientUnderTest, startedClient } from "./client.js";
import { expectAccessible } from "./looks.js";
import { openPage } from "./open-page.js";
import { shownText, type Visitor, visitorOf } from "./visitor.js";
import { fieldOf } from "./writer.js";

const PNG = readFileSync(new URL("../pictures/files/text.png", import.meta.url));
const LAYOUT = `<!DOCTYPE html><html lang="en"><head><title>{{ title or "A note" }}</title>
<link rel="preconnect" href="https://fonts.example"><link rel="stylesheet" href="/style.css"></head>
<body class="blog"><script>document.title = "run"</script><header><a href="/">Alice's blog</a></header>
<main><h1>{{ title }}</h1>{{ content | safe }}</main><img src="https://other.example/count.gif" alt=""></body></html>`;
const FILES = {
  "_includes/post.njk": LAYOUT,
  "style.css": '.blog { color: rgb(1, 2, 3) } @font-face { font-family: x; src: url("/fonts/x.woff2") }',
  "notes/notes.json": '{ "layout": "post.njk", "tags": "posts" }',
  "notes/first.md": post({ date: "2026-11-19T09:00:00Z" }, "First."),
};

/** The files of a site outside of the folders that its author ignores, with their contents. */
function stateOf({ folder }: BuiltSite): string {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true });
  const own = files.filter(
    (file) => file.isFile() && !file.parentPath.includes("node_modules") && !file.parentPath.includes("/data"),
  );
  return own
    .map(({ parentPath, name }) => `${parentPath}/${name}\n${readFileSync(join(parentPath, name), "utf8")}`)
    .sort()
    .join();
}

async function blogger(
  files: Record<string, string> = FILES,
): Promise<{ built: BuiltSite; client: ClientUnderTest; visitor: Visitor }> {
  const built = await site({
    files,
    config: 'config.addPassthroughCopy("style.css");',
    options: '{ url: "https://alice.example", host: "node" }',
  });
  const environment = { ...process.env, HOME: built.folder, XDG_DATA_HOME: join(built.folder, "data") } as Record<
    string,
    string
  >;
  const client = await startedClient({ folder: built.folder, environment });
  return { built, client, visitor: await visitorOf(client, "/write") };
}

async function builtPageOf(visitor: Visitor, fields: Record<string, string>): Promise<{ text: string; frame: string }> {
  let { text } = await visitor.submit("/write/draft", { folder: "notes", ...fields, next: "site" });
  const id = fieldOf(text, "id");
  await eventually(async () => {
    ({ text } = await visitor.get(`/write?draft=${id}`));
    expect(text).not.toContain("Building your site");
  });
  return { text, frame: /<iframe[^>]* src="([^"]*)"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "" };
}

describe("a draft on its author's site", () => {
  it("is built in the site's layout, and changes no file of the site", async () => {
    const { built, visitor } = await blogger();
    const before = stateOf(built);
    const { frame } = await builtPageOf(visitor, {
      title: "Quinces",
      body: "They are *ripe*, @<bob https://bob.example/twtxt.txt>.",
    });
    const page = await visitor.get(frame);
    expect(page.text).toContain("<title>Quinces</title>");
    expect(page.text).toContain("<main><h1>Quinces</h1><p>They are <em>ripe</em>,");
    expect(page.text).toContain('<a href="https://bob.example/twtxt.txt" class="u-mention" dir="auto">');
    expect(page.text).toContain('<base href="/write/site/notes/quinces/" target="_blank">');
    expect(page.text).toContain('href="/write/site/style.css"');
    expect(page.text).not.toContain("preconnect");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^sandbox allow-same-origin; default-src 'none';/);
    expect(policy).not.toContain("script");
    expect((await visitor.get("/write/site/style.css")).text).toContain('url("/write/site/fonts/x.woff2")');
    expect(stateOf(built)).toBe(before);
  });

  it("says why Eleventy cannot build it, and keeps the draft", async () => {
    const { visitor } = await blogger();
    const { text, frame } = await builtPageOf(visitor, { body: "Hello {% nothing %}" });
    expect(frame).toBe("");
    expect(shownText(text)).toMatch(/Eleventy could not build the site with this post: .*nothing/);
    expect(text).toContain("Hello {% nothing %}</textarea>");
  });

  it("404 for files of the site that are no stylesheets, pictures or fonts, or lie outside of the built site", async () => {
    const { built, visitor } = await blogger();
    symlinkSync("/etc", join(built.folder, "_site/etc"));
    writeFileSync(join(built.folder, "secret.css"), "secret");
    for (const path of [
      "index.html",
      "..%2fsecret.css",
      "%2e%2e/secret.css",
      "%ff.css",
      "etc/x.css",
      "%00.css",
      "notes/first/index.html",
      "",
    ]) {
      expect([path, (await visitor.get(`/write/site/${path}`)).status]).toEqual([path, 404]);
    }
    expect((await visitor.get("/write/page?draft=x")).status).toBe(404);
    expect(existsSync(join(built.folder, "_site/style.css"))).toBe(true);
  });
});

describeInChromium("a draft on its author's site, in a browser", () => {
  it("has its stylesheet and its picture, runs no script, contacts no other host, and fits all widths", async () => {
    const other = await loopbackServer((_, response) => response.end(PNG));
    const layout = LAYOUT.replace("https://other.example", other.url);
    const { client, visitor } = await blogger({ ...FILES, "_includes/post.njk": layout });
    const picture = { field: "picture", name: "a.png", bytes: PNG, type: "image/png" };
    const { text: draft } = await visitor.upload(
      "/write/draft",
      { body: "A note", description: "a text", folder: "notes" },
      [picture],
    );
    const fields = {
      id: fieldOf(draft, "id"),
      seen: fieldOf(draft, "seen"),
      body: "A note\n\n![a text](picture-1.png)",
    };
    await builtPageOf(visitor, fields);
    const tab = await openPage(client, `/write?draft=${fields.id}`);
    const frame = tab.frameLocator("iframe.built-page");
    await frame.getByText("A note").waitFor();
    const shown = await (await tab.locator("iframe.built-page").elementHandle())?.contentFrame();
    expect(await shown?.evaluate("getComputedStyle(document.body).color")).toBe("rgb(1, 2, 3)");
    await expect
      .poll(() => shown?.evaluate("document.querySelector('[alt=\"a text\"]').naturalWidth"))
      .toBeGreaterThan(0);
    expect(await tab.title()).not.toContain("run");
    expect(other.requests).toEqual([]);
    await expectAccessible(tab, "write-on-your-site");
  });
});
