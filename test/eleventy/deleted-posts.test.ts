import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type BuiltSite, buildSite, post, site } from "../helpers/site.js";

const AT = "2026-11-01T08:00:00Z";
/** Each word of the deleted post is unique to it. */
const DATA = {
  title: "Secrettitle",
  summary: "Secretsummary",
  date: AT,
  tags: ["posts", "only-here"],
  layout: "base.njk",
  photo: "/secretphoto.png",
};
const BODY = "Secretbody, @<bob https://bob.example/twtxt.txt>";
const LAYOUT =
  "<!doctype html><html><head><title>{{ title }}</title></head><body>{{ summary }}{{ content | safe }}</body></html>";
const LISTING = `{% for p in collections.posts %}{{ p.data.title }}{{ p.templateContent | safe }}{{ p.rawInput }}{% endfor %}
{% for p in collections.all %}{{ p.url }}|{% endfor %}{% for tag, list in collections %}{{ tag }}{% endfor %}`;

const FILES = {
  "_includes/base.njk": LAYOUT,
  "listing.njk": LISTING,
  "posts/kept.md": post({ title: "Kept", date: "2026-11-02T08:00:00Z", tags: "posts" }, "Stays."),
  "posts/gone.md": post(DATA, BODY),
};

const deleted = (data: object = {}, body = BODY) => post({ ...DATA, twt: "deleted", ...data }, body);

/** All files that a build wrote, by path. */
function written({ folder }: BuiltSite): Record<string, string> {
  const files = ["_site", ".eleventy-twtxt", ".netlify"].flatMap((top) => {
    const names = readdirSync(join(folder, top), { recursive: true, encoding: "utf8" });
    return names.map((name) => join(top, name)).filter((path) => statSync(join(folder, path)).isFile());
  });
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

const isSecret = ([, content]: [string, string]) => /secret/i.test(content);
const hostJson = ({ folder }: BuiltSite) => JSON.parse(readFileSync(join(folder, ".eleventy-twtxt/host.json"), "utf8"));

describe("a post with twt: deleted", () => {
  it("leaves only a deletion notice on its page in the next build", async () => {
    const options = `{ host: "netlify" }`;
    const before = await site({ files: FILES, options });
    expect(Object.entries(written(before)).filter(isSecret).length).toBeGreaterThan(3);
    const built = await site({ site: before, files: { "posts/gone.md": deleted() }, options });
    expect(Object.entries(written(built)).filter(isSecret)).toEqual([]);
    expect(built.texts()).toEqual(["Kept: https://alice.example/posts/kept/"]);
    expect(built.read("listing/index.html")).not.toContain("/posts/gone/");

    const page = built.read("posts/gone/index.html");
    expect(page).toContain(">This post was deleted</h1>");
    expect(page).toContain('<meta name="robots" content="noindex">');
    expect(page).not.toMatch(/twtxt\.txt|webmention/);
    expect(hostJson(built).pages).toMatchObject({
      deleted: [{ page: "https://alice.example/posts/gone/", replyTo: null }],
      pages: expect.not.arrayContaining(["https://alice.example/posts/gone/"]),
    });
  });

  it.each([
    ["posts/gone.njk", "{{ title }} {% set a = 1 %}"],
    ["posts/gone.liquid", "{{ title }} {% assign a = 1 %}"],
    ["posts/gone.html", "<p>{{ title }}</p>"],
  ])("becomes an HTML page from %s", async (file, body) => {
    const built = await site({ files: { "listing.njk": LISTING, [file]: deleted({ layout: null }, body) } });
    expect(built.read("posts/gone/index.html")).toContain(">This post was deleted</h1>");
    expect(built.read("posts/gone/index.html")).not.toMatch(/secret/i);
    expect(built.read("listing/index.html")).not.toMatch(/secret/i);
  });

  it("becomes an HTML page from JavaScript, and an empty file from a template of another type", async () => {
    const script = `export default { data: { twt: "deleted", title: "Secrettitle", tags: "posts", permalink: "/js/" }, render: (data) => data.title };`;
    const files = {
      "listing.njk": LISTING,
      "posts/gone.11ty.js": script,
      "posts/gone.md": deleted({ permalink: "/gone.txt", layout: null }),
    };
    const built = await site({ files });
    expect(built.read("js/index.html")).toContain(">This post was deleted</h1>");
    expect(built.read("gone.txt").trim()).toBe("");
    expect(built.read("listing/index.html")).not.toMatch(/secret/i);
  });

  it("has a notice in the language of the post or of the site, or with the words from the options", async () => {
    const built = await site({
      files: {
        "posts/gone.md": deleted({ layout: null }),
        "fr/gone.md": deleted({ layout: null, lang: "fr", date: "2026-11-02T08:00:00Z" }),
        // Only Eleventy's i18n plugin knows its language.
        "es/gone.md": deleted({ layout: null, date: "2026-11-03T08:00:00Z" }),
        "pt/gone.md": deleted({ layout: null, lang: "pt", date: "2026-11-04T08:00:00Z" }),
      },
      options: `{ lang: "de" }`,
      config: `config.addGlobalData("eleventyComputed.page.lang", () => (data) => data.page.url.startsWith("/es/") ? "es" : undefined);`,
    });
    const notices = ["posts", "fr", "es", "pt"].map((folder) =>
      /<html lang="(.*?)">[\s\S]*<h1.*?>(.*?)<\/h1>/.exec(built.read(`${folder}/gone/index.html`))?.slice(1),
    );
    expect(notices).toEqual([
      ["de", "Dieser Beitrag wurde gelöscht"],
      ["fr", "Cet article a été supprimé"],
      ["es", "Esta entrada se ha eliminado"],
      ["en", "This post was deleted"],
    ]);
    const files = { "posts/gone.md": deleted({ layout: null }) };
    const own = await site({ files, options: `{ mentions: { words: { deleted: "Gone & forgotten" } } }` });
    expect(own.read("posts/gone/index.html")).toContain("Gone &amp; forgotten");
  });

  it("is only removed from the feed if it has no page", async () => {
    const built = await site({ files: { ...FILES, "posts/gone.md": deleted({ permalink: false }) } });
    expect(built.texts()).toEqual(["Kept: https://alice.example/posts/kept/"]);
    expect(hostJson(built).pages.deleted).toEqual([]);
  });

  it("is removed from its archive, which is deleted if empty; other files with such names stay", async () => {
    const old = { ...DATA, date: "2019-01-02T03:04:05Z" };
    const files = { ...FILES, "posts/between.md": post({ date: "2025-01-01T01:01:01Z", tags: "posts" }, "Between") };
    const config = `config.addPassthroughCopy("twtxt-2018.txt");`;
    const own = { "twtxt-2018.txt": "# url = https://old.example/twtxt.txt\n" };
    const before = await site({ files: { ...files, ...own, "posts/gone.md": post(old, BODY) }, config });
    expect(before.read("twtxt-2019.txt")).toContain("Secrettitle");
    const built = await site({ site: before, files: { "posts/gone.md": deleted(old) }, config });
    expect(built.has("twtxt-2019.txt")).toBe(false);
    expect(built.read("twtxt.txt")).not.toContain("prev");
    expect(built.has("twtxt-2018.txt")).toBe(true);
  });

  it("responds with 410 on Netlify, by a rule before the site's own, until it is restored", async () => {
    const config = (folder: string) => JSON.parse(readFileSync(join(folder, ".netlify/v1/config.json"), "utf8"));
    const other = { from: "/a", to: "/b" };
    const files = {
      ...FILES,
      "posts/gone.md": deleted(),
      "posts/pattern.md": deleted({ permalink: "/a:b/*/", layout: null }),
      ".netlify/v1/config.json": JSON.stringify({ "redirects!": [other], redirects: [other] }),
    };
    const built = await site({ files, options: `{ host: "netlify" }` });
    const rule = { from: "/posts/gone/", to: "/posts/gone/index.html", status: 410, force: true };
    expect(config(built.folder)).toMatchObject({ "redirects!": [other, rule], redirects: [other] });
    await site({ site: built, files: { "posts/gone.md": post(DATA, BODY) }, options: `{ host: "netlify" }` });
    expect(config(built.folder)).toMatchObject({ "redirects!": [other], redirects: [other] });
  });

  it.each(["delete", "Deleted", "removed"])("stops the build if it is misspelled: twt: %s", async (twt) => {
    const built = await buildSite({ files: { "posts/gone.md": deleted({ twt, layout: null }) } });
    expect(built.exitCode).toBe(1);
    expect(built.log).toContain(
      `./posts/gone.md: expected twt: deleted, which deletes the post, or a longer text, got "${twt}".`,
    );
    expect(built.has("posts/gone/index.html")).toBe(false);
  });

  it("stops the build if twt is computed, because templates would already have the post", async () => {
    const data = { title: "T", date: AT, tags: "posts", eleventyComputed: { twt: "deleted" } };
    const built = await buildSite({ files: { "posts/gone.md": post(data) } });
    expect(built.exitCode).toBe(1);
    expect(built.log).toContain(
      "expected twt: deleted in the front matter or a data file, got it from eleventyComputed",
    );
  });
});
