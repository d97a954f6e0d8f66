import { describe, expect, it } from "vitest";
import { serve } from "../cli/server.js";
import { post, site } from "../helpers/site.js";
import { logged, projectFile } from "./read-build.js";

const ENDPOINT = "https://alice.example/webmention";
const LINK = `<${ENDPOINT}>; rel="webmention"`;
const page = (head: string) => `<!doctype html><title>{{ title }}</title>${head}<p>{{ content | safe }}`;
const files = {
  "_includes/short.njk": page(""),
  "_includes/linked.njk": page(`<link rel=webmention href=${ENDPOINT}>`),
  "_includes/long.njk": "<html><head><title>x</title></head><body>{{ content | safe }}</body></html>",
  "posts/posts.json": `{ "tags": "posts" }`,
  "posts/quinces.md": post({ title: "Quinces", date: "2026-03-04", layout: "short.njk" }),
  "posts/café.md": post({ title: "Café", date: "2026-03-05", layout: "short.njk" }),
  "posts/linked.md": post({ title: "Linked", date: "2026-03-06", layout: "linked.njk" }, "Text."),
  "posts/long.md": post({ title: "Long", date: "2026-03-07", layout: "long.njk" }, "Text."),
};
const NOTE =
  "2 pages have no </head>, so the host names your endpoint for mentions in a Link header: /posts/café/, /posts/quinces/. To add the plugin's links to the page, write </head> in the layout, or {% twtxtHead %} below the title.";

describe("a page without </head>", () => {
  it("is answered by serve with the endpoint as a Link header, and the build says so", async () => {
    const built = await site({ files, options: `{ host: "node", mentions: { pages: false } }` });
    const server = await serve(built);
    const linkOf = async (path: string) => (await fetch(server.url + path)).headers.get("link");

    expect(logged(built)).toContain(NOTE);
    for (const path of ["/posts/quinces/", "/posts/quinces/index.html", "/posts/caf%C3%A9/"]) {
      expect([path, await linkOf(path)]).toEqual([path, LINK]);
    }
    for (const path of ["/posts/linked/", "/posts/long/", "/nothing/"]) {
      expect([path, await linkOf(path)]).toEqual([path, null]);
    }
  });

  it("has the same header on Netlify, and more than 100 pages share a rule", async () => {
    const rulesOf = async (count: number) => {
      const many = Object.fromEntries(
        Array.from({ length: count }, (_, i) => [
          `more/${i}.md`,
          post({ title: `${i}`, layout: "short.njk", permalink: `/more/${i}/` }),
        ]),
      );
      const built = await site({ files: { ...files, ...many }, options: `{ host: "netlify" }` });
      const { headers } = JSON.parse(projectFile(built, ".netlify/v1/config.json") ?? "");
      return headers.filter((rule: { for: string }) => rule.for !== "/twtxt.txt");
    };

    expect(await rulesOf(0)).toEqual(
      ["/posts/café/", "/posts/quinces/"].map((path) => ({ for: path, values: { Link: LINK } })),
    );
    expect(await rulesOf(99)).toEqual([{ for: "/*", values: { Link: LINK } }]);
  });

  it("causes a warning on a static host, which sends no headers", async () => {
    const built = await site({
      files,
      options: `{ host: "static", webmention: "${ENDPOINT}" }`,
      flags: { quietMode: true },
    });

    expect(logged(built)).toEqual([
      NOTE.replace(/so the host names .* header/, "so other sites cannot find your endpoint for mentions there"),
    ]);
  });

  it("is not a post whose text another feed contains, transformed without its layout", async () => {
    const feed = `---\npermalink: /feed.xml\n---\n{% for post in collections.posts %}{{ post.content | renderTransforms(post.data.page) }}{% endfor %}`;
    const built = await site({ files: { ...files, "feed.njk": feed }, options: `{ host: "node" }` });

    expect(built.read("feed.xml")).toContain("Text.");
    expect(logged(built)).toContain(NOTE);
  });

  it("causes nothing in a site without an endpoint, or with head: false", async () => {
    const none = await site({ files });
    const own = await site({ files, options: `{ host: "node", head: false }` });

    for (const built of [none, own]) expect(built.log).not.toContain("</head>");
  });
});
