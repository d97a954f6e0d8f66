import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type BuiltSite, buildSite, configOf, post, site } from "../helpers/site.js";
import { buildError, projectFile } from "./read-build.js";

const KEY = "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const files = {
  "_includes/base.njk": `<!doctype html><html lang="en"><head><title>{{ title }}</title><link rel="stylesheet" href="/css/own.css"></head>
<body>{{ content | safe }}{% twtxtMentions %}</body></html>`,
  "css/own.css": "body { color: green }",
  "index.njk": "---\nlayout: base.njk\ntitle: Home\n---\nHome",
  "posts/posts.json": `{ "tags": "posts", "layout": "base.njk" }`,
  "posts/old.md": post({ title: "Old", date: "2019-03-04T05:06:07Z" }, "Body"),
  "posts/older.md": post({ title: "Older", date: "2018-03-04T05:06:07Z" }, "Body"),
  "posts/new.md": post({ title: "New", date: "2026-03-04" }, "Body"),
  "posts/quinces.md": post({ date: "2026-03-05" }, "![Quinces](quinces.png)"),
  "posts/quinces.png": PNG,
};
const VITE = { imports: `import vite from "@11ty/eleventy-plugin-vite";`, config: `config.addPassthroughCopy("css");` };

/** Builds a site with Vite's plugin added before or after this one. */
function viteSite(host: string, order: string, mode = ""): Promise<BuiltSite> {
  const config = configOf({ ...VITE, config: VITE.config + mode, options: `{ host: "${host}", key: "${KEY}" }` });
  const add = `  config.addPlugin(vite, { viteOptions: { logLevel: "error" } });\n`;
  const withVite =
    order === "before" ? config.replace("  config.addPlugin(", `${add}$&`) : config.replace(/}\n$/, `${add}}\n`);
  return site({ files: { ...files, "eleventy.config.js": withVite } });
}

/** The paths of the scripts and stylesheets that a page loads. */
function loadedFiles(page: string): string[] {
  const tags = page.match(/<script[^>]*src=[^>]*>|<link[^>]*rel="stylesheet"[^>]*>/g) ?? [];
  return tags.map((tag) => /(?:src|href)="([^"]*)"/.exec(tag)?.[1] ?? tag);
}

describe("a site with @11ty/eleventy-plugin-vite", () => {
  it.each([
    ["static", "before", ""],
    ["netlify", "after", ""],
    ["node", "before", ""],
    ["node", "after", ""],
    ["node", "after", `config.setEventEmitterMode("sequential");`],
  ])("has its feed and all that its pages load: host %s, Vite added %s this plugin %s", async (host, order, mode) => {
    const built = await viteSite(host, order, mode);

    expect(built.texts()).toHaveLength(3);
    expect(built.has("twtxt-2018.txt")).toBe(true);
    expect(built.has("posts/quinces/quinces.png")).toBe(true);
    expect(built.has(".well-known/msg/alice.json")).toBe(host !== "static");
    const pages = ["index.html", "posts/new/index.html", ...(host === "static" ? [] : ["contact/index.html"])];
    for (const page of pages) {
      const html = built.read(page);
      expect(html).toContain('href="/twtxt.txt"');
      expect(loadedFiles(html).length).toBeGreaterThan(0);
      expect(loadedFiles(html).filter((file) => !built.has(file))).toEqual([]);
    }
    if (host === "static") return;
    const scripts = loadedFiles(built.read("posts/new/index.html")).filter((file) => file.endsWith(".js"));
    expect(scripts.map((file) => built.read(file)).join("")).toContain("customElements.define");
    expect(projectFile(built, ".eleventy-twtxt/published/twtxt.txt")).toBe(built.read("twtxt.txt"));
  });
});

describe("the end of a build", () => {
  it("comes after handlers that empty the output folder", async () => {
    const built = await site({
      files,
      imports: `import { rm } from "node:fs/promises"; import { setTimeout } from "node:timers/promises";`,
      config: `config.on("eleventy.after", async ({ directories: { output } }) => {
  await setTimeout(50);
  await rm(output, { recursive: true });
});`,
    });

    expect(built.texts()).toHaveLength(3);
  });

  it.each([
    ["is missing", "rmSync(feed)"],
    ["has other content", `writeFileSync(feed, "<!doctype html>")`],
  ])(
    "fails, and publishes nothing, if another program changes the site meanwhile: the feed %s",
    async (state, change) => {
      const built = await buildSite({
        files,
        options: `{ host: "node" }`,
        imports: `import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";`,
        config: `config.on("eleventy.after", ({ directories: { output } }) => {
  const feed = output + "twtxt.txt";
  const later = () => { if (existsSync(feed) && readFileSync(feed).length > 0) ${change}; else setImmediate(later); };
  later();
});`,
      });

      expect(built.exitCode).toBe(1);
      expect(buildError(built)).toBe(
        `_site/twtxt.txt ${state}, although this build has just written it. Another program changes ./_site/ at the same time: find it among the handlers of "eleventy.after", and have them return a promise that Eleventy waits for.`,
      );
      expect(existsSync(join(built.folder, ".eleventy-twtxt/host.json"))).toBe(false);
      expect(built.log).not.toContain("Wrote /twtxt.txt");
      expect(readFileSync(join(built.folder, "_site/index.html"), "utf8")).toContain("Home");
    },
  );
});
