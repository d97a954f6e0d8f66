import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { twtHash } from "../../plugin/feed/hash.js";
import { type BuiltSite, buildSite, site } from "../helpers/site.js";
import { buildError, HEADER, lines, logged, projectFile, quoted, textAt } from "./read-build.js";

const FEED_URL = "https://alice.example/twtxt.txt";
const FEED_LINK = `<link rel="alternate" type="text/plain" title="alice's twtxt feed" href="/twtxt.txt">`;
const PAGE = "<!doctype html><html><head><title>{{ title }}</title></head><body>{{ content | safe }}</body></html>\n";

function at(minute: number): string {
  return `2024-01-02T03:${String(minute).padStart(2, "0")}:05Z`;
}

function titled(minute: number, title: string, data: Record<string, unknown> = {}, body = "Body\n"): string {
  return quoted({ title, date: at(minute), tags: ["posts"], ...data }, body);
}

function note(minute: number, body: string, data: Record<string, unknown> = {}): string {
  return quoted({ date: at(minute), tags: ["posts"], ...data }, body);
}

/** The content of all files in a folder, by relative path. */
function filesIn(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );
  return Object.fromEntries(paths.toSorted().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

function outputOf(built: BuiltSite): Record<string, string> {
  return filesIn(join(built.folder, "_site"));
}

describe("permalinks", () => {
  it("of any kind appear in the twt's link", async () => {
    const built = await site({
      files: {
        "no-slash.md": titled(1, "A", { permalink: "no-slash/index.html" }),
        "html.md": titled(2, "B", { permalink: "/deep/page.html" }),
        "folder.md": titled(3, "C", { permalink: "/folder/" }),
        "computed.md": titled(4, "D E", { eleventyComputed: { permalink: "/computed/{{ title | slugify }}/" } }),
        "posts/posts.11tydata.js": `export default { permalink: ({ title, page }) => "/by-function/" + page.date.getUTCFullYear() + "/" + title + "/" };`,
        "posts/f.md": titled(5, "F"),
        "space.md": titled(6, "G", { permalink: "/café au lait/" }),
        "text.njk": titled(7, "H", { permalink: "/h.txt" }),
        "index.md": titled(8, "I"),
      },
    });
    expect(lines(built)).toEqual([
      `${at(1)}\tA: https://alice.example/no-slash/`,
      `${at(2)}\tB: https://alice.example/deep/page.html`,
      `${at(3)}\tC: https://alice.example/folder/`,
      `${at(4)}\tD E: https://alice.example/computed/d-e/`,
      `${at(5)}\tF: https://alice.example/by-function/2024/F/`,
      `${at(6)}\tG: https://alice.example/caf%C3%A9%20au%20lait/`,
      `${at(7)}\tH: https://alice.example/h.txt`,
      `${at(8)}\tI: https://alice.example/`,
    ]);
  });

  it("false: the twt has no link", async () => {
    const built = await site({
      files: {
        "a.md": note(1, "A note [here](/b/)", { permalink: false }),
        "b.md": titled(2, "B", { permalink: false, summary: "in short" }),
        "c.md": titled(3, "C", { permalink: false, twt: "full" }),
        "d.md": note(3, "Another", { permalink: false }),
      },
    });
    expect(lines(built)).toEqual([
      `${at(1)}\tA note [here](https://alice.example/b/)`,
      `${at(2)}\tB: in short`,
      `${at(3)}\tBody`,
      "2024-01-02T03:03:06Z\tAnother",
    ]);
  });
});

describe("template languages", () => {
  it("can all be used for posts", async () => {
    const built = await site({
      files: {
        "a.liquid": note(1, "<p>{{ 1 | plus: 1 }} in Liquid</p>"),
        "b.njk": note(2, "<p>{{ 1 + 1 }} in Nunjucks</p>"),
        "c.html": note(3, "<p>HTML &amp; more</p>"),
        "d.11ty.js": `export default class {
          data() { return { date: "${at(4)}", tags: "posts" }; }
          render({ page }) { return "<p>JavaScript at " + page.url + "</p>"; }
        }`,
        "e.md": `---js\n{\n  date: "${at(5)}",\n  tags: ["posts"],\n  word: ["front", "matter"].join(" "),\n}\n---\nJavaScript {{ word }}\n`,
        "f.md": `---json\n{ "date": "${at(6)}", "tags": ["posts"] }\n---\nJSON\n`,
        "g.md": note(7, "{% raw %}{{ raw }}{% endraw %} {% shout 'a' %}\n"),
        "h.md": note(8, "# {{ page.url }}\n", { templateEngineOverride: "njk,md" }),
        "i.md": note(9, "{{ plain }}\n", { templateEngineOverride: "md" }),
      },
      config: `config.addShortcode("shout", (text) => "<b>" + text.toUpperCase() + "</b>");`,
    });
    expect(lines(built).map((line) => line.split("\t")[1])).toEqual([
      "2 in Liquid",
      "2 in Nunjucks",
      "HTML & more",
      "JavaScript at /d/",
      "JavaScript front matter",
      "JSON",
      "{{ raw }} **A**",
      "# /h/",
      "{{ plain }}",
    ]);
  });

  it("can be Markdown alone, without JavaScript", async () => {
    const built = await site({ files: { "a.md": titled(1, "A") }, config: `return { templateFormats: ["md"] };` });
    expect(built.read("twtxt.txt")).toBe(`${HEADER}${at(1)}\tA: https://alice.example/a/\n`);
    expect(logged(built)).toEqual(["Wrote /twtxt.txt (1 twt)."]);
  });
});

describe("folders", () => {
  it("can be the project root for the input and dist for the output", async () => {
    const built = await site({
      files: { "a.md": titled(1, "A") },
      config: `return { dir: { input: ".", output: "dist" } };`,
    });
    expect(projectFile(built, "dist/twtxt.txt")).toBe(`${HEADER}${at(1)}\tA: https://alice.example/a/\n`);
    expect(existsSync(join(built.folder, "_site"))).toBe(false);
    expect(projectFile(built, "twtxt.txt")).toBeNull();
  });

  it("can be src for the input", async () => {
    const built = await site({
      files: { "src/_includes/page.njk": PAGE, "src/posts/a.md": titled(1, "A", { layout: "page.njk" }) },
      config: `return { dir: { input: "src", output: "public/site" } };`,
      options: `{ path: "/feeds/alice.txt" }`,
    });
    expect(projectFile(built, "public/site/feeds/alice.txt")).toBe(
      `# nick = alice\n# url = https://alice.example/feeds/alice.txt\n\n${at(1)}\tA: https://alice.example/posts/a/\n`,
    );
    expect(projectFile(built, "public/site/posts/a/index.html")).toContain('href="/feeds/alice.txt"');
  });
});

describe("several languages", () => {
  it("with one collection each share one feed", async () => {
    const post = (minute: number, title: string, lang: string) => titled(minute, title, { tags: [`posts_${lang}`] });
    const built = await site({
      imports: `import { EleventyI18nPlugin } from "@11ty/eleventy";`,
      config: `config.addPlugin(EleventyI18nPlugin, { defaultLanguage: "en" });`,
      options: `{ collection: ["posts_en", "posts_fr"] }`,
      files: {
        "en/en.json": `{ "lang": "en" }`,
        "fr/fr.json": `{ "lang": "fr" }`,
        "en/a.md": post(1, "One", "en"),
        "fr/a.md": post(1, "Un", "fr"),
        "en/b.md": post(2, "Two", "en"),
        "index.njk": `{% for link in "/en/a/" | locale_links %}{{ link.url }}{% endfor %}`,
      },
    });
    expect(lines(built)).toEqual([
      `${at(1)}\tOne: https://alice.example/en/a/`,
      "2024-01-02T03:01:06Z\tUn: https://alice.example/fr/a/",
      `${at(2)}\tTwo: https://alice.example/en/b/`,
    ]);
    expect(logged(built)[0]).toMatch(/^\.\/fr\/a\.md and \.\/en\/a\.md have the same time, 2024-01-02T03:01:05Z\./);
  });
});

describe("pagination", () => {
  it("over the posts does not change the twts", async () => {
    const built = await site({
      files: {
        "a.md": titled(1, "A"),
        "b.md": titled(2, "B"),
        "index.njk": `---\npagination:\n  data: collections.posts\n  size: 1\n---\n{% for item in pagination.items %}{{ item.url }}{{ item.templateContent | safe }}{% endfor %}`,
      },
    });
    expect(lines(built)).toEqual([`${at(1)}\tA: https://alice.example/a/`, `${at(2)}\tB: https://alice.example/b/`]);
    expect(built.read("1/index.html")).toBe("/b/<p>Body</p>\n");
  });

  it("of a post has a twt for its first page, or for each page in the collection", async () => {
    const paged = (minute: number, title: string, all: boolean) =>
      `---\ntitle: ${title}\ndate: ${at(minute)}\ntags: posts\nitems: [x, y]\npagination:\n  data: items\n  size: 1\n  addAllPagesToCollections: ${all}\n---\n{{ pagination.items[0] }}`;
    const built = await site({ files: { "first.njk": paged(1, "First", false), "all.njk": paged(2, "All", true) } });
    expect(lines(built)).toEqual([
      `${at(1)}\tFirst: https://alice.example/first/`,
      `${at(2)}\tAll: https://alice.example/all/`,
      "2024-01-02T03:02:06Z\tAll: https://alice.example/all/1/",
    ]);
  });
});

describe("a path prefix", () => {
  const files = {
    "_includes/page.njk": PAGE,
    "a.md": titled(1, "A", { layout: "page.njk" }, `<a href="{{ '/b/' | url }}">b</a>\n`),
    "n.md": note(2, "[b]({{ '/b/' | url }}) [c](c/)\n"),
  };
  const feed = `# nick = alice\n# url = https://alice.example/blog/twtxt.txt\n\n${at(1)}\tA: https://alice.example/blog/a/\n`;

  it("appears once in the feed's URL and in the link to it", async () => {
    const built = await site({ files, config: `return { pathPrefix: "/blog/" };` });
    expect(built.read("twtxt.txt")).toBe(
      `${feed}${at(2)}\t[b](https://alice.example/blog/b/) [c](https://alice.example/blog/n/c/)\n`,
    );
    expect(built.read("a/index.html")).toBe(
      `<!doctype html><html><head><title>A</title>${FEED_LINK.replace("/twtxt", "/blog/twtxt")}\n</head><body><p><a href="/blog/b/">b</a></p>\n</body></html>\n`,
    );
    expect(logged(built)).toEqual(["Wrote /blog/twtxt.txt (2 twts)."]);
  });

  const htmlBase = {
    imports: `import { EleventyHtmlBasePlugin } from "@11ty/eleventy";`,
    config: `config.addPlugin(EleventyHtmlBasePlugin); return { pathPrefix: "/blog/" };`,
  };

  it("is added once, even with EleventyHtmlBasePlugin, which adds it to every link", async () => {
    const built = await site({
      files: { ...files, "a.md": titled(1, "A", { layout: "page.njk" }, "[b](/b/)\n"), "n.md": null },
      ...htmlBase,
    });
    expect(built.read("twtxt.txt")).toBe(feed);
    const hrefs = [...built.read("a/index.html").matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
    expect(hrefs).toEqual(["/blog/twtxt.txt", "/blog/b/"]);
  });

  it("is added to the links of a note, as EleventyHtmlBasePlugin does on the page", async () => {
    const built = await site({ files: { "n.md": note(2, "[b](/b/) [c](c/) ![d](/d.png)\n") }, ...htmlBase });
    expect(built.read("n/index.html")).toContain('href="/blog/b/"');
    expect(textAt(built, at(2))).toBe(
      "[b](https://alice.example/blog/b/) [c](https://alice.example/blog/n/c/) ![d](https://alice.example/blog/d.png)",
    );
  });
});

describe("a feed at the path of a page", () => {
  it.each(["/feed/index.html", "/feed"])("stops the build: %s", async (path) => {
    const built = await buildSite({ files: { "feed.md": "A page" }, options: `{ path: "${path}" }` });
    expect(built.exitCode).toBe(1);
    expect(buildError(built)).toContain(`./feed.md is already written to ${path}.`);
  });
});

describe("the plugin added twice", () => {
  it("stops the build", async () => {
    const built = await buildSite({
      files: { "a.md": "A" },
      config: `config.addPlugin(twtxt, { url: "https://alice.example", nick: "alice" });`,
    });
    expect(built.exitCode).toBe(1);
    expect(built.log).toContain("The plugin is added twice");
  });
});

describe("a quiet build", () => {
  it("still warns", async () => {
    const built = await site({ files: { "a.md": "---\ntags: posts\ntitle: A\n---\n" }, flags: { quietMode: true } });
    expect(logged(built)).toEqual([expect.stringMatching(/^1 post left out of the feed, because the date is missing/)]);
  });
});

describe("pagination without output pages", () => {
  it("has a twt for each item", async () => {
    const built = await site({
      files: {
        "a.njk": `---\ntags: posts\ndate: ${at(1)}\nitems: [x, y, z]\npermalink: false\npagination:\n  data: items\n  size: 1\n  addAllPagesToCollections: true\n---\n{{ pagination.items[0] }}`,
      },
    });
    expect(built.texts()).toEqual(["x", "y", "z"]);
  });
});

describe("links in templates, with a path prefix", () => {
  it("are prefixed once, by the plugin or by EleventyHtmlBasePlugin", async () => {
    const files = { "a.html": `<html><head>{% twtxtHead %}</head><a href="{{ twtxt.href }}">feed</a></html>` };
    const prefix = `return { pathPrefix: "/blog/", htmlTemplateEngine: "liquid" };`;
    const byHand = await site({ files, config: prefix });
    const byPlugin = await site({
      files,
      imports: `import { EleventyHtmlBasePlugin } from "@11ty/eleventy";`,
      config: `config.addPlugin(EleventyHtmlBasePlugin); ${prefix}`,
    });
    for (const built of [byHand, byPlugin]) {
      expect(built.read("a/index.html").match(/href="[^"]*"/g)).toEqual([
        'href="/blog/twtxt.txt"',
        'href="/blog/twtxt.txt"',
      ]);
    }
  });
});

describe("text that looks like a link or a head", () => {
  it("is ignored", async () => {
    const feedLink = `<link rel="alternate" type="text/plain" title="alice&#39;s twtxt feed" href="/twtxt.txt">`;
    const built = await site({
      files: {
        "meta.html": `<html><head><meta content="a </head> b"></head></html>`,
        "comment.html": `<html><head><!-- ${feedLink.replace("&#39;", "'")} --></head></html>`,
        "data.html": `<html><head></head><a data-rel="webmention" href="/x">x</a></html>`,
        "own.html": `<html><head><link rel="webmention" href="/wm"></head></html>`,
      },
      options: `{ webmention: "https://alice.example/wm" }`,
    });
    expect(built.read("meta/index.html")).toMatch(/^<html><head><meta content="a <\/head> b"><link rel="alternate"/);
    expect(built.read("comment/index.html").match(/<link rel="alternate"/g)?.length).toBe(2);
    expect(built.read("data/index.html")).toContain('<link rel="webmention" href="https://alice.example/wm">');
    expect(built.read("own/index.html").match(/rel="webmention"/g)?.length).toBe(1);
    expect(logged(built).filter((sentence) => sentence.includes("endpoint"))).toEqual([]);
  });
});

describe("posts in WebC", () => {
  it("have the text of their rendered body", async () => {
    const built = await site({
      files: {
        "a.webc": `---\ntags: posts\ndate: ${at(1)}\n---\n<p>Hi <a class="u-mention" href="https://bob.example/twtxt.txt">@bob</a>, from <b @text="page.fileSlug"></b></p>`,
      },
      imports: `import webc from "@11ty/eleventy-plugin-webc";`,
      config: "config.addPlugin(webc);",
    });
    expect(textAt(built, at(1))).toBe(`Hi @<bob https://bob.example/twtxt.txt>, from **a**`);
  });
});

describe("links between posts", () => {
  it("to a template point to its page, as with InputPathToUrlTransformPlugin", async () => {
    const body =
      "[b](b.md) [up](../top.md?x=1#part) [root](/notes/b.md) [none](gone.md) [other](https://x.example/b.md)";
    const built = await site({
      files: { "src/notes/a.md": note(1, body), "src/notes/b.md": note(2, "B"), "src/top.md": "Top" },
      imports: `import { InputPathToUrlTransformPlugin } from "@11ty/eleventy";`,
      config: `config.addPlugin(InputPathToUrlTransformPlugin); return { dir: { input: "src" } };`,
    });
    expect(built.read("notes/a/index.html")).toContain('<a href="/notes/b/">b</a> <a href="/top/?x=1#part">up</a>');
    expect(textAt(built, at(1))).toBe(
      "[b](https://alice.example/notes/b/) [up](https://alice.example/top/?x=1#part) [root](https://alice.example/notes/b/) [none](https://alice.example/notes/a/gone.md) [other](https://x.example/b.md)",
    );
  });
});

describe("a build", () => {
  const files = {
    "_includes/page.njk": PAGE,
    "a.md": titled(1, "A", { layout: "page.njk" }),
    "b.md": note(2, "B @bob"),
    "c.md": titled(3, "C", {}, "to @<carol https://carol.example/twtxt.txt>"),
    "old.md": titled(4, "Old", { date: "2020-01-02T03:04:05Z" }),
    "older.md": titled(4, "Older", { date: "2019-01-02T03:04:05Z" }),
  };
  const options = `{ follow: [{ nick: "bob", url: "https://bob.example/twtxt.txt" }] }`;
  let first: BuiltSite;

  beforeAll(async () => {
    first = await site({ files, options });
  });

  it("has the same output when repeated", async () => {
    const again = await site({ files, options });
    expect(outputOf(again)).toEqual(outputOf(first));
    expect(Object.keys(outputOf(first))).toContain("twtxt-2019.txt");
    expect(projectFile(again, ".eleventy-twtxt/settings.json")).toBe(
      projectFile(first, ".eleventy-twtxt/settings.json"),
    );

    const over = await site({ site: again, files: {}, options });
    expect(outputOf(over)).toEqual(outputOf(first));
  });

  it("with --to=json prints only JSON and writes no feed", async () => {
    const built = await site({ files, options, flags: { toJson: true } });
    const pages = JSON.parse(built.log) as { url: string }[];
    expect(pages.map(({ url }) => url).toSorted()).toEqual(["/a/", "/b/", "/c/", "/old/", "/older/"]);
    expect(built.has("twtxt.txt")).toBe(false);
    expect(projectFile(built, ".eleventy-twtxt/settings.json")).toBeNull();
  });

  it("with dryRun writes no file", async () => {
    const built = await site({ files, options, flags: { dryRun: true } });
    expect(existsSync(join(built.folder, "_site"))).toBe(false);
    expect(projectFile(built, ".eleventy-twtxt/settings.json")).toBeNull();
    expect(logged(built).filter((sentence) => sentence.startsWith("Wrote"))).toEqual([]);
  });

  it("with dryRun writes no file, even without posts", async () => {
    const built = await site({ files: { "index.md": "Home" }, flags: { dryRun: true } });
    expect(existsSync(join(built.folder, "_site"))).toBe(false);
    expect(projectFile(built, ".eleventy-twtxt/settings.json")).toBeNull();
  });

  it("with quietMode logs only warnings", async () => {
    const built = await site({ files, options, flags: { quietMode: true } });
    expect(built.read("twtxt.txt")).toBe(first.read("twtxt.txt"));
    expect(logged(built).filter((sentence) => !sentence.startsWith("Wrote"))).toEqual([]);
  });
});

describe("the rest of the site", () => {
  const files = {
    "_includes/base.njk": `<!doctype html>\n<html>\n<head>\n  <title>{{ title }}</title>\n</head>\n<body>\n{{ content | safe }}\n<footer>{{ collections.all | length }}</footer>\n</body>\n</html>\n`,
    "_includes/post.njk": `---\nlayout: base.njk\n---\n<h1>{{ title }}</h1>{{ content | safe }}{% for tag in tags %}<a href="/tags/{{ tag }}/">{{ tag }}</a>{% endfor %}`,
    // Without a date, Eleventy would order these by file age.
    "content/content.json": `{ "date": "2020-01-01T00:00:00Z" }`,
    "content/posts/posts.json": `{ "layout": "post.njk", "tags": "posts" }`,
    "content/posts/one.md": quoted({ title: "One", date: at(1), tags: ["x", "y"] }, "1 @nobody\n"),
    "content/posts/two.md": quoted({ title: "Two", date: at(2), tags: ["y", "z"] }, "`2`\n"),
    "content/posts/three.md": quoted({ title: "Three", date: at(3), tags: ["w"] }, "[3](/posts/two/)\n"),
    "content/draft.md": quoted({ title: "Draft", date: at(4), draft: true, tags: ["posts"] }, "4"),
    "content/index.njk": `---\nlayout: base.njk\npagination:\n  data: collections.posts\n  size: 2\n  reverse: true\n---\n{% for post in pagination.items %}{{ post.url }}: {{ post.templateContent | safe }}{% endfor %}`,
    "content/names.njk": `---\nlayout: base.njk\n---\n{% for name, items in collections %}{{ name }} ({{ items | length }}) {% for item in items %}{{ item.inputPath }} {% endfor %}\n{% endfor %}`,
    "content/tags.njk": `---\npagination:\n  data: collections\n  size: 1\n  alias: tag\n  filter: [all, posts]\npermalink: /tags/{{ tag }}/\nlayout: base.njk\neleventyComputed:\n  title: Tagged {{ tag }}\n---\n{% for post in collections[tag] %}{{ post.url }} {% endfor %}`,
    "content/feed.njk": `---\npermalink: /feed.xml\neleventyExcludeFromCollections: true\n---\n<feed>{% for post in collections.posts %}<entry>{{ post.templateContent }}</entry>{% endfor %}</feed>`,
    "content/sitemap.njk": `---\npermalink: /sitemap.xml\n---\n{% for page in collections.all %}{{ page.url }}\n{% endfor %}`,
    "content/head.txt.njk": `---\npermalink: /head.txt\n---\n<head></head>`,
    "public/style.css": "p { color: green }",
    "public/_headers": "/*\n  X: y\n",
    "public/_redirects": "/a /b\n",
  };
  const config = `
    config.addPreprocessor("drafts", "*", (data) => (data.draft ? false : undefined));
    config.addCollection("latest", (api) => api.getFilteredByTag("posts").reverse().slice(0, 2));
    config.addPassthroughCopy({ public: "/" });
    return { dir: { input: "content", includes: "../_includes" } };`;

  it("is byte for byte the same as without the plugin, except for the links in each head", async () => {
    const plain = await site({
      files: { ...files, "eleventy.config.js": `export default function (config) {${config}}\n` },
    });
    const built = await site({ files, config });
    const { "twtxt.txt": feed, ...others } = outputOf(built);
    const withoutLinks = Object.entries(others).map(([path, content]) => [path, content.replace(`${FEED_LINK}\n`, "")]);
    expect(Object.fromEntries(withoutLinks)).toEqual(outputOf(plain));

    expect(feed).toContain("\tThree: https://alice.example/posts/three/\n");
    expect(Object.keys(others)).toEqual(
      expect.arrayContaining(["tags/w/index.html", "tags/latest/index.html", "names/index.html", "1/index.html"]),
    );
    const linked = Object.keys(others).filter((path) => others[path]?.includes(FEED_LINK));
    expect(linked).toEqual(Object.keys(others).filter((path) => path.endsWith(".html")));
    expect(filesIn(join(built.folder, ".netlify"))).toEqual({});
  });

  it("keeps its _headers and _redirects on Netlify", async () => {
    const built = await site({
      files,
      config,
      options: `{ host: "netlify", webmention: "https://alice.example/webmention" }`,
    });
    expect(built.read("_headers")).toBe(files["public/_headers"]);
    expect(built.read("_redirects")).toBe(files["public/_redirects"]);
    expect(JSON.parse(projectFile(built, ".netlify/v1/config.json") ?? "")).toEqual({
      headers: [
        {
          for: "/twtxt.txt",
          values: {
            "Content-Type": "text/plain; charset=utf-8",
            Link: '<https://alice.example/webmention>; rel="webmention"',
            "Access-Control-Allow-Origin": "*",
          },
        },
      ],
    });
  });
});

describe("the links in a page's head", () => {
  const ENDPOINT = "https://alice.example/webmention?a=1&b=2";
  const ENDPOINT_LINK = `<link rel="webmention" href="https://alice.example/webmention?a=1&amp;b=2">`;
  const OTHER = `<link rel="webmention" href="https://webmention.example/alice/webmention">`;
  const options = `{ webmention: "${ENDPOINT}" }`;

  it("are added once, before the first </head> that is in no script or comment", async () => {
    const built = await site({
      options,
      files: {
        "a.html": `<html><head><title>A</title></head><body><script>document.write("</head>");</script><code></head></code></body></html>`,
        "b.html": "<HTML><HEAD></HEAD\n><BODY></BODY></HTML>",
        "c.html": "<p>No head</p>",
        "d.html": `<html><head>${FEED_LINK}\n${ENDPOINT_LINK}\n</head></html>`,
        "e.njk": `---\npermalink: /e.xml\n---\n<head></head>`,
        "f.html": `<html><head><script>const page = "<head></head>";</script></head></html>`,
        "g.html": "<html><head><!-- </head> --></head></html>",
      },
    });
    const links = `${FEED_LINK}\n${ENDPOINT_LINK}\n`;
    expect(built.read("a/index.html")).toBe(
      `<html><head><title>A</title>${links}</head><body><script>document.write("</head>");</script><code></head></code></body></html>`,
    );
    expect(built.read("b/index.html")).toBe(`<HTML><HEAD>${links}</HEAD\n><BODY></BODY></HTML>`);
    expect(built.read("c/index.html")).toBe("<p>No head</p>");
    expect(built.read("d/index.html")).toBe(`<html><head>${links}</head></html>`);
    expect(built.read("e.xml")).toBe("<head></head>");
    expect(built.read("f/index.html")).toContain(`</head>";</script>${links}</head>`);
    expect(built.read("g/index.html")).toContain(`<!-- </head> -->${links}</head>`);
  });

  it("keep another endpoint, with one warning that has the number of pages, the endpoint and a fix", async () => {
    const built = await site({
      options,
      files: {
        "a.html": `<html><head>${OTHER}</head></html>`,
        "b.html": `<html><head></head><body><a href='https://webmention.example/alice/webmention' rel='me webmention'>w</a></body></html>`,
        "c.html": `<html><head><!-- ${OTHER} --></head></html>`,
        "d.html": `<html><head><link href="https://alice.example/webmention?a=1&amp;b=2" rel=webmention></head></html>`,
      },
    });
    expect(built.read("a/index.html")).toBe(`<html><head>${OTHER}${FEED_LINK}\n</head></html>`);
    expect(built.read("b/index.html")).toBe(
      `<html><head>${FEED_LINK}\n</head><body><a href='https://webmention.example/alice/webmention' rel='me webmention'>w</a></body></html>`,
    );
    expect(built.read("c/index.html")).toBe(
      `<html><head><!-- ${OTHER} -->${FEED_LINK}\n${ENDPOINT_LINK}\n</head></html>`,
    );
    expect(built.read("d/index.html")).toBe(
      `<html><head><link href="https://alice.example/webmention?a=1&amp;b=2" rel=webmention>${FEED_LINK}\n</head></html>`,
    );
    expect(logged(built).filter((sentence) => sentence.includes("endpoint"))).toEqual([
      `2 pages name another webmention endpoint, https://webmention.example/alice/webmention, which takes precedence. Remove that link from the layout to receive mentions at ${ENDPOINT}, or set the option "webmention" to it.`,
    ]);
  });

  it("cause a warning in the singular for one page", async () => {
    const built = await site({ options, files: { "a.html": `<html><head>${OTHER}</head></html>` } });
    expect(logged(built).find((sentence) => sentence.includes("endpoint"))).toMatch(
      /^1 page names another webmention endpoint, https:\/\/webmention\.example\/alice\/webmention, which takes precedence\. /,
    );
  });

  it("cause no warning about another endpoint if the site has none", async () => {
    const built = await site({ files: { "a.html": `<html><head>${OTHER}</head></html>`, "b.md": titled(1, "B") } });
    expect(built.read("a/index.html")).toBe(`<html><head>${OTHER}${FEED_LINK}\n</head></html>`);
    expect(logged(built)).toEqual(["Wrote /twtxt.txt (1 twt)."]);
  });

  it("are only added by the shortcode twtxtHead if the option head is false", async () => {
    const built = await site({
      options: `{ webmention: "${ENDPOINT}", head: false }`,
      files: {
        "a.njk": "<html><head>{% twtxtHead %}</head></html>",
        "b.html": "<html><head></head></html>",
        "c.liquid": "{% twtxtHead %}",
      },
    });
    const links = `${FEED_LINK}\n${ENDPOINT_LINK}`;
    expect(built.read("a/index.html")).toBe(`<html><head>${links}</head></html>`);
    expect(built.read("b/index.html")).toBe("<html><head></head></html>");
    expect(built.read("c/index.html")).toBe(links);
  });

  it("are added once with the shortcode twtxtHead", async () => {
    const built = await site({ options, files: { "a.njk": "<html><head>{% twtxtHead %}\n</head></html>" } });
    expect(built.read("a/index.html")).toBe(`<html><head>${FEED_LINK}\n${ENDPOINT_LINK}\n</head></html>`);
  });
});

describe("templates", () => {
  const text = "A: https://alice.example/a/";
  const hash = twtHash(FEED_URL, { timestamp: at(1), text });
  const mentioning = "Hi @<bob https://bob.example/twtxt.txt>";
  const mentioningHash = twtHash(FEED_URL, { timestamp: at(2), text: mentioning });
  let built: BuiltSite;

  beforeAll(async () => {
    built = await site({
      options: `{ follow: [{ nick: "bob", url: "https://bob.example/twtxt.txt" }] }`,
      files: {
        "_includes/post.njk": `{{ content | safe }}{% set t = page | twt %}{% if t %}{{ t.hash }} {{ t.timestamp }} {{ t.text | safe }} {{ t.mentions | dump | safe }}{% else %}no twt{% endif %}|{% twtxtReply %}|{% twtxtReply "Answer <me>:" %}`,
        "_includes/post.liquid": "{% assign t = page | twt %}{{ t.hash }}|{% twtxtReply %}",
        "a.md": titled(1, "A", { layout: "post.njk" }),
        "b.md": note(2, "Hi @bob", { layout: "post.njk" }),
        "c.md": titled(3, "C", { layout: "post.njk", twt: false }),
        "d.md": titled(4, "D", { layout: "post.liquid" }),
        "about.md": quoted({ layout: "post.njk" }, "About\n"),
        "list.njk": `{% for post in collections.posts %}{{ (post | twt).timestamp }},{% endfor %} {{ ("/a/" | twt).hash }} {{ ("/nowhere/" | twt) }}`,
        "list-too.11ty.js": `export default class { render({ collections }) { return collections.posts.map((post) => this.twt(post)?.hash ?? "-").join(); } }`,
        "roll.njk": `{{ twtxt.url }} {{ twtxt.href }} {{ twtxt.nick }} {% for feed in twtxt.follow %}{{ feed.nick }}={{ feed.url }}{% endfor %}`,
      },
    });
  });

  it("show a post's twt in its layout", () => {
    const reply = (label: string, of: string) =>
      `<p class="twtxt-reply">${label} <code>(#${of}) @&lt;alice ${FEED_URL}&gt;</code></p>`;
    expect(built.read("a/index.html")).toBe(
      `<p>Body</p>\n${hash} ${at(1)} ${text} []|${reply("Reply from a twtxt client with:", hash)}|${reply("Answer &lt;me&gt;:", hash)}`,
    );
    expect(built.read("b/index.html")).toContain(
      `${mentioningHash} ${at(2)} ${mentioning} [{"nick":"bob","url":"https://bob.example/twtxt.txt"}]|${reply("Reply from a twtxt client with:", mentioningHash)}`,
    );
    const dHash = twtHash(FEED_URL, { timestamp: at(4), text: "D: https://alice.example/d/" });
    expect(built.read("d/index.html")).toBe(`${dHash}|${reply("Reply from a twtxt client with:", dHash)}`);
  });

  it("have no twt for a page without one", () => {
    expect(built.read("c/index.html")).toBe("<p>Body</p>\nno twt||");
    expect(built.read("about/index.html")).toBe("<p>About</p>\nno twt||");
  });

  it("show the twts of all posts on another page", () => {
    expect(built.read("list/index.html")).toBe(`${[at(1), at(2), "", at(4)].join(",")}, ${hash} `);
    const hashes = lines(built).map((line) => {
      const [timestamp = "", ...rest] = line.split("\t");
      return twtHash(FEED_URL, { timestamp, text: rest.join("\t") });
    });
    expect(built.read("list-too/index.html").split(",")).toEqual([...hashes.slice(0, 2), "-", ...hashes.slice(2)]);
  });

  it("show a blogroll from the global data twtxt", () => {
    expect(built.read("roll/index.html")).toBe(`${FEED_URL} /twtxt.txt alice bob=https://bob.example/twtxt.txt`);
  });

  it("show a post's twt in the body of another post", async () => {
    const two = await site({
      files: {
        "a.md": titled(1, "A"),
        "b.md": note(2, "Hi @<bob https://bob.example/twtxt.txt>"),
        "e.md": note(5, "As I said: {% assign t = '/a/' | twt %}{{ t.hash }} at {{ t.timestamp }}"),
        "0.md": note(6, "Of a note: {% assign t = '/b/' | twt %}{{ t.hash }}"),
      },
    });
    expect(textAt(two, at(5))).toBe(`As I said: ${hash} at ${at(1)}`);
    expect(textAt(two, at(6))).toBe(`Of a note: ${mentioningHash}`);
  });

  it.each(["{{ page | twt | json }}", "{% twtxtReply %}"])(
    "cannot show a post's own twt in its body: %s",
    async (use) => {
      const failed = await buildSite({
        files: { "notes/a.md": note(1, use) },
        config: `config.addFilter("json", JSON.stringify);`,
      });
      expect(failed.exitCode).toBe(1);
      expect(failed.log).toContain(
        "[eleventy-plugin-twtxt] ./notes/a.md: a post cannot show its twt in its own body, because the twt is made from the body. Use it in a layout or on another page.",
      );
      expect(failed.has("twtxt.txt")).toBe(false);
    },
  );

  it("stop the build if the bodies of two posts show each other's twt", async () => {
    const showing = (url: string) => `{% assign t = "${url}" | twt %}{{ t.hash }}`;
    const failed = await buildSite({ files: { "a.md": note(1, showing("/b/")), "b.md": note(2, showing("/a/")) } });
    expect(failed.exitCode).toBe(1);
    expect(failed.has("twtxt.txt")).toBe(false);
  });
});

describe("a site that writes the feed's file itself", () => {
  const own = "2020-01-01T00:00:00Z\tMy own\n";
  const sentence = (source: string, path = "/twtxt.txt") =>
    `${source} is already written to ${path}. Remove that file, or give the feed another path with the option "path". Nothing was overwritten.`;

  it.each([
    { kind: "a template", files: { "own.njk": `---\npermalink: /twtxt.txt\n---\n${own}` }, source: "./own.njk" },
    {
      kind: "a JavaScript template",
      files: { "own.11ty.js": `export default { data: { permalink: "twtxt.txt" }, render: () => "x" };` },
      source: "./own.11ty.js",
    },
    {
      kind: "a copied file",
      files: { "twtxt.txt": own },
      config: `config.addPassthroughCopy("twtxt.txt");`,
      source: "./twtxt.txt",
    },
    {
      kind: "a file copied from another folder",
      files: { "my/feed.txt": own },
      config: `config.addPassthroughCopy({ "my/feed.txt": "twtxt.txt" });`,
      source: "./my/feed.txt",
    },
    {
      kind: "a copied folder",
      files: { "public/twtxt.txt": own },
      config: `config.addPassthroughCopy({ public: "/" });`,
      source: "./public/twtxt.txt",
    },
    {
      kind: "files copied by a glob",
      files: { "twtxt.txt": own },
      config: `config.addPassthroughCopy("*.txt");`,
      source: "./twtxt.txt",
    },
    {
      kind: "a template format that is copied",
      files: { "twtxt.txt": own },
      config: `config.addTemplateFormats("txt");`,
      source: "./twtxt.txt",
    },
  ])("stops the build, with both solutions: $kind", async ({ files, config, source }) => {
    const built = await buildSite({ files: { "a.md": titled(1, "A"), ...files }, ...(config && { config }) });
    expect(built.exitCode).toBe(1);
    expect((buildError(built) ?? "").replace(/^(?!\.\/)/, "./")).toBe(sentence(source));
    if (built.has("twtxt.txt")) expect(built.read("twtxt.txt")).toBe(own);
  });

  it("stops the build for an archive, too", async () => {
    const built = await buildSite({
      files: {
        "a.md": titled(1, "A"),
        "b.md": titled(2, "B", { date: "2020-01-02T03:04:05Z" }),
        "c.md": titled(3, "C", { date: "2018-01-02T03:04:05Z" }),
        "own.njk": `---\npermalink: /twtxt-2018.txt\n---\n${own}`,
      },
    });
    expect(built.exitCode).toBe(1);
    expect(buildError(built)).toBe(sentence("./own.njk", "/twtxt-2018.txt"));
    expect(built.read("twtxt-2018.txt")).toBe(own);
    expect(built.has("twtxt.txt")).toBe(false);
  });

  it("keeps the file if the feed has another path", async () => {
    const built = await site({
      files: { "a.md": titled(1, "A"), "public/twtxt.txt": own },
      config: `config.addPassthroughCopy({ public: "/" });`,
      options: `{ path: "/alice.txt" }`,
    });
    expect(built.read("twtxt.txt")).toBe(own);
    expect(lines(built, "alice.txt")).toEqual([`${at(1)}\tA: https://alice.example/a/`]);
  });

  it("is not confused with the output of an earlier build", async () => {
    const built = await site({
      files: { "a.md": titled(1, "A"), "public/x.css": "" },
      config: `config.addPassthroughCopy({ public: "/" });`,
    });
    const again = await site({ site: built, files: {}, config: `config.addPassthroughCopy({ public: "/" });` });
    expect(again.read("twtxt.txt")).toBe(built.read("twtxt.txt"));
  });
});
