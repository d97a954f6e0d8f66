import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkOptions } from "../../plugin/options.js";
import { HOST_FILE, parsePublishedSite } from "../../plugin/site/site.js";
import { linkFinder } from "../../plugin/text/post-links.js";
import { type BuiltSite, post, type SiteSetup, site } from "../helpers/site.js";

const findLinks = linkFinder(
  checkOptions({
    url: "https://alice.example",
    nick: "alice",
    mentions: { aliases: ["https://old.example/twtxt.txt"] },
  }),
);
const HENS = "https://bob.example/posts/hens/";

describe("the links in a body", () => {
  it.each([
    ["a link", `<p><a href="${HENS}">hens</a></p>`, [HENS]],
    ["a link with its fragment, once per page", `<a href="${HENS}#a">a</a><a href="${HENS}#b">b</a>`, [`${HENS}#a`]],
    ["a link without quotes, in capitals", `<A CLASS=x HREF=${HENS}>hens</A>`, [HENS]],
    [
      "a link in single quotes, across several lines",
      `<a\n rel='nofollow noopener'\n href=' ${HENS}\n'>hens</a>`,
      [HENS],
    ],
    ["a link with rel=nofollow", `<a rel="nofollow" href="${HENS}">hens</a>`, [HENS]],
    ["a link whose text is code", `<a href="${HENS}"><code>hens()</code></a>`, [HENS]],
    [
      "a link in the footer of a quotation",
      `<blockquote><footer><a href="${HENS}">b</a></footer></blockquote>`,
      [HENS],
    ],
    [
      "character references",
      '<a href="https://b.example/?a=1&amp;b=&#50;&#x26;c=&unknown;">b</a>',
      ["https://b.example/?a=1&b=2&c=&unknown;"],
    ],
    ["an invalid code point", '<a href="https://b.example/&#9999999;x">b</a>', ["https://b.example/x"]],
    ["a link without protocol", '<a href="//bob.example/x#y">b</a>', ["https://bob.example/x#y"]],
    ["a link exactly as written", '<a href="HTTP://Bob.example">b</a>', ["HTTP://Bob.example"]],
    ["a link after a tag that is never closed", `<a title="x>y" href="${HENS}">b</a><p`, [HENS]],
  ])("include %s", (_name, html, links) => {
    expect(findLinks(html)).toEqual(links);
  });

  it.each([
    [
      "no link in code",
      `<code>&lt;a href="${HENS}"&gt;</code><pre><a href="${HENS}">b</a></pre><code class="x"><a href="${HENS}">b</a></code>`,
    ],
    ["no link in a comment", `<!-- <a href="${HENS}">b</a> -->`],
    ["no link in a comment without end", `<!-- <a href="${HENS}">b</a>`],
    [
      "no link in a script, style, text field or template",
      ["script", "style", "textarea", "template"].map((tag) => `<${tag}><a href="${HENS}">b</a></${tag}>`).join(""),
    ],
    ["no navigation", `<nav class="toc"><a href="${HENS}">b</a></nav>`],
    ["no mention, which is already in the twt", `<a href="${HENS}" class="u-url u-mention">@bob</a>`],
    ["no link from a stranger's text", `<a href="${HENS}" rel="nofollow ugc noopener">b</a>`],
    [
      "no page of the site itself",
      [
        ...["/posts/", "posts/", "#eggs", "https://alice.example/x", "http://www.alice.example/y", "//alice.example"],
        ...[
          "https://ALICE.example:443/",
          "https://alice.example./",
          "https:\\\\alice.example\\",
          "https://alice。example/",
        ],
      ]
        .map((href) => `<a href="${href}">x</a>`)
        .join(""),
    ],
    ["no page on a former host of the feed", '<a href="https://old.example/posts/">x</a>'],
    [
      "no other protocol",
      ["mailto:bob@bob.example", "gemini://bob.example/", "javascript:alert(1)", "data:,x", "tel:1"]
        .map((href) => `<a href="${href}">x</a>`)
        .join(""),
    ],
    [
      "no URL with a password",
      '<a href="https://bob:secret@bob.example/">x</a><a href="https://bob@bob.example/">x</a>',
    ],
    ["no URL without a host", '<a href="https://">x</a><a href="//">x</a><a href="https://[::/">x</a><a href>x</a>'],
    ["no URL of more than 2048 characters", `<a href="https://bob.example/${"x".repeat(2048)}">x</a>`],
    [
      "no other element",
      `<abbr href="${HENS}"></abbr><area href="${HENS}"><img src="${HENS}"><a-x href="${HENS}"></a-x>`,
    ],
  ])("include %s", (_name, html) => {
    expect(findLinks(html)).toEqual([]);
  });

  it("include loopback URLs if the site itself is on loopback", () => {
    const find = linkFinder(checkOptions({ url: "http://127.0.0.1:8080", nick: "alice" }));
    const html = `<a href="${HENS}">b</a><a href="http://127.0.0.1:8081/">c</a><a href="http://127.0.0.1:8080/">d</a><a href="http://localhost:8080/">e</a>`;
    expect(find(html)).toEqual(["http://127.0.0.1:8081/"]);
  });

  it("are only those in <main> if the body is a whole page", () => {
    const parts = ["head", "header", "nav", "aside", "footer"].map(
      (tag) => `<${tag}><a href="https://${tag}.example">x</a></${tag}>`,
    );
    const html = `<!doctype html><html>${parts.join("")}<body class="x"><main><a href="${HENS}">hens</a></main></body></html>`;
    expect(findLinks(html)).toEqual([HENS]);
  });
});

const LAYOUT = `<!doctype html><title>x</title><header><a href="https://header.example/">h</a></header>
<nav><a href="https://nav.example/">n</a></nav><main>{{ content | safe }}</main>
<footer><a href="https://footer.example/">f</a></footer>`;

/** Builds a site. @returns also the links of each post that the host receives, by timestamp */
async function linksOf(setup: SiteSetup): Promise<{ built: BuiltSite; links: Record<string, string[] | undefined> }> {
  const built = await site({ ...setup, files: { "_includes/base.njk": LAYOUT, ...setup.files } });
  const { pages } = parsePublishedSite(readFileSync(join(built.folder, HOST_FILE), "utf8"));
  return { built, links: Object.fromEntries(pages.twts.map(({ timestamp, links }) => [timestamp, links])) };
}

const dated = (date: string, more = {}) => ({ date, tags: "posts", layout: "base.njk", ...more });

describe("a build", () => {
  it("passes the links in each post's body to the host, without those of layouts, drafts and future posts", async () => {
    const { links } = await linksOf({
      files: {
        "posts/titled.md": post(
          dated("2026-11-01T08:00:00Z", { title: "Hens" }),
          `[hens](${HENS}#eggs), [home](/), \`<a href="https://code.example/">\`, @<bob https://bob.example/twtxt.txt>, <https://auto.example/>`,
        ),
        "posts/note.md": post(dated("2026-11-02T08:00:00Z"), "A note about [figs](https://figs.example/)."),
        "posts/none.md": post(dated("2026-11-03T08:00:00Z", { title: "None" }), "No link."),
        "posts/off.md": post(
          dated("2026-11-04T08:00:00Z", { title: "Off", twt: false }),
          "[off](https://off.example/)",
        ),
        "posts/draft.md": post(
          dated("2026-11-05T08:00:00Z", { title: "Draft", draft: true }),
          "[draft](https://draft.example/)",
        ),
        "posts/future.md": post(
          dated("2026-12-01T08:00:00Z", { title: "Future" }),
          "[future](https://future.example/)",
        ),
      },
      config: `config.addPreprocessor("drafts", "*", (data) => (data.draft ? false : undefined));`,
    });
    expect(links).toEqual({
      "2026-11-01T08:00:00Z": [`${HENS}#eggs`, "https://auto.example/"],
      "2026-11-02T08:00:00Z": ["https://figs.example/"],
      "2026-11-03T08:00:00Z": [],
    });
  });

  it("passes at most 50 links per post to the host, with a notice", async () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => `<https://bob.example/${at}>`).join(" ");
    const { built, links } = await linksOf({
      files: {
        "posts/a.md": post(dated("2026-11-01T08:00:00Z", { title: "A" }), many(51)),
        "posts/b.md": post(dated("2026-11-02T08:00:00Z", { title: "B" }), many(50)),
      },
    });
    expect(Object.values(links).map((list) => list?.length)).toEqual([50, 50]);
    expect(built.log).toContain(
      "1 post with more than 50 links to other sites: ./posts/a.md. Mentions are sent to the first 50 of them.",
    );
  });

  it.each(["{ mentions: { links: false } }", "{ mentions: false }"])(
    "passes no links to the host with %s",
    async (options) => {
      const body = Array.from({ length: 51 }, (_, at) => `<https://bob.example/${at}>`).join(" ");
      const { built, links } = await linksOf({
        files: { "posts/a.md": post(dated("2026-11-01T08:00:00Z", { title: "A" }), body) },
        options,
      });
      expect(links).toEqual({ "2026-11-01T08:00:00Z": undefined });
      expect(built.log).not.toContain("more than 50 links");
    },
  );
});
