import { describe, expect, it } from "vitest";
import { buildSite, post, site } from "../helpers/site.js";
import { buildError, logged } from "./read-build.js";

const KEY = "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077";
const base = `<html lang="en"><head><title>{{ title }}</title></head><body class="{{ section }}">{{ content | safe }}</body></html>`;
const files = {
  "_includes/layouts/base.njk": base,
  "_includes/layouts/post.njk": `---\nlayout: layouts/base.njk\n---\n<article>{{ content | safe }}</article>`,
  "_includes/menu.njk": "<nav></nav>",
  "about.md": post({ title: "About", layout: "layouts/base.njk" }, "Hello"),
  "now.md": post({ title: "Now", layout: "layouts/base.njk" }, "Hello"),
  "posts/posts.json": `{ "tags": "posts", "layout": "layouts/post.njk" }`,
  ...Object.fromEntries(
    [1, 2, 3].map((day) => [`posts/${day}.md`, post({ title: `${day}`, date: `2026-03-0${day}` })]),
  ),
};
const options = (more = "") => `{ url: "http://127.0.0.1:1", host: "node", key: "${KEY}", ${more} }`;
const PAGES = ["mentions", "timeline", "contact"];
const notes = (log: string[]) => log.filter((line) => line.includes("layout"));

describe("the option layout", () => {
  it("gives all pages of the plugin the look of the site, and its layout the option data", async () => {
    const built = await site({
      files,
      options: options(
        `layout: "layouts/base.njk", data: { section: "social" }, timeline: true, follow: [{ nick: "bob", url: "http://127.0.0.1:1/bob.txt" }]`,
      ),
    });

    for (const page of PAGES)
      expect(built.read(`${page}/index.html`)).toContain('<body class="social"><h1 class="twtxt-title">');
    expect(notes(logged(built))).toEqual([]);
  });

  it("may be an alias, a name without extension or a template of the configuration, and that of one page goes first", async () => {
    const built = await site({
      files,
      options: options(`layout: "main", mentions: { layout: "layouts/base" }, inbox: { layout: "own.njk" }`),
      config: `config.addLayoutAlias("main", "layouts/base.njk");
config.addTemplate("_includes/own.njk", "<main id=own>{{ content | safe }}</main>");`,
    });

    expect(built.read("mentions/index.html")).toContain("<body");
    expect(built.read("contact/index.html")).toContain("<main id=own>");
  });

  it.each([
    ["layout", `layout: "bas.njk"`],
    ["inbox.layout", `inbox: { layout: "bas.njk" }`],
  ])("that does not exist stops the build with those that do: %s", async (name, more) => {
    const built = await buildSite({ files, options: options(more) });

    expect(built.exitCode).toBe(1);
    expect(buildError(built)).toBe(
      `options.${name}: there is no layout "bas.njk" in ./_includes/. Layouts there: layouts/base.njk, layouts/post.njk.`,
    );
  });

  it("is recommended once, with the layout that most pages share, and false turns the note off", async () => {
    const built = await site({ files, options: options() });
    const silent = await site({ files, options: options("layout: false") });

    expect(notes(logged(built))).toEqual([
      `/mentions/, /contact/ are plain pages. To give them the look of your site, add the option layout: "layouts/base.njk", which most of your pages use; layout: false means that they stay plain.`,
    ]);
    expect(notes(logged(silent))).toEqual([]);
    expect(silent.read("mentions/index.html")).toContain("<style>");
  });

  it.each([
    [
      "the parent of home.njk and post.njk, by any of its names",
      {
        "_includes/layouts/home.njk": "---\nlayout: layouts/base\n---\n<p>Delete this notice.</p>{{ content | safe }}",
        "about.md": post({ title: "About", layout: "layouts/home.njk" }, "Hello"),
        "now.md": post({ title: "Now", layout: "home" }, "Hello"),
      },
      "layouts/base.njk",
    ],
    [
      "not the layout of posts, if it has no parent",
      { "_includes/layouts/post.njk": "{{ content | safe }}", "now.md": post({ title: "Now" }, "Hello") },
      "layouts/base.njk",
    ],
    [
      "the layout of posts, if no other page has a layout",
      { "about.md": post({ title: "About" }, "Hello"), "now.md": post({ title: "Now" }, "Hello") },
      "layouts/post.njk",
    ],
    [
      "the parent, if front matter in JavaScript or JSON names it",
      {
        "_includes/layouts/home.njk": `---json\n{ "title": "Home", "layout": "layouts/base.njk" }\n---\n{{ content | safe }}`,
        "_includes/layouts/post.njk": `---js\nconst layout = "layouts/base.njk";\n---\n{{ content | safe }}`,
        "about.md": post({ title: "About", layout: "layouts/home.njk" }, "Hello"),
        "now.md": post({ title: "Now", layout: "layouts/home.njk" }, "Hello"),
      },
      "layouts/base.njk",
    ],
  ])("that is recommended is %s", async (_, changed, layout) => {
    const built = await buildSite({
      files: { ...files, ...changed },
      options: options(),
      config: `config.addLayoutAlias("home", "layouts/home.njk");`,
    });

    const named = logged(built).flatMap((note) => /add the option layout: "([^"]+)"/.exec(note)?.[1] ?? []);
    expect(named).toEqual([layout]);
  });
});
