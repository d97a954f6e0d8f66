import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { SharedBlobs } from "../../plugin/eleventy/pages/shared-blobs.js";
import { checkOptions } from "../../plugin/options.js";
import { isBlobKey } from "../../plugin/site/routes.js";
import { loopbackServer } from "../helpers/loopback.js";
import { type BuiltSite, buildSite, site } from "../helpers/site.js";
import { buildError, logged, projectFile, quoted, textAt } from "./read-build.js";

const ALICE = "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077";
const BOB = "kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg";
const CAROL = `kex1${"q".repeat(58)}`;
const DAVE = `kex1${"p".repeat(58)}`;
const SHARED = `https://alice.example/shared/${ALICE}`;
const ON = `{ host: "node", key: "${ALICE}", blobs: true }`;
const AT = "2026-01-02T03:04:05Z";
const HASH = "a3".repeat(32);

/** A host that stores no blobs. */
const STATIC = { has: () => false, userAgent: () => "" };

function sharedBlobs(options: object): SharedBlobs {
  const settings = checkOptions({ url: "https://alice.example", nick: "alice", ...options });
  return new SharedBlobs({ settings, ...STATIC, absolute: (path) => settings.url + path });
}

const raw = `config.setLibrary("md", { render: (text) => text });`;
const note = (body: string, more: object = {}) => quoted({ date: AT, tags: ["posts"], ...more }, `${body}\n`);
const handoverJson = ({ folder }: BuiltSite, name: string) =>
  JSON.parse(readFileSync(join(folder, ".eleventy-twtxt", name), "utf8"));

describe("the filter sharedBlob", () => {
  const blogOfTwo = { key: ALICE, authors: [{ user: "bob", key: BOB }], blobs: { owners: [CAROL] } };

  it("returns the URL of a blob of the first author, in each template language", async () => {
    const built = await site({
      options: ON,
      files: {
        "a.njk": `{{ "quinces.jpg" | sharedBlob }}`,
        "b.liquid": `{{ "${HASH}" | sharedBlob }}`,
        "c.11ty.js": `export default function () { return this.sharedBlob("My_File-1..PNG"); }`,
      },
    });
    expect(built.read("a/index.html")).toBe(`${SHARED}/quinces.jpg`);
    expect(built.read("b/index.html")).toBe(`${SHARED}/${HASH}`);
    expect(built.read("c/index.html")).toBe(`${SHARED}/My_File-1..PNG`);
  });

  it("returns the URL for another author, by user or key, and for a key in the option owners", async () => {
    const built = await site({
      options: JSON.stringify(blogOfTwo),
      files: {
        "a.njk": `{{ "k" | sharedBlob("bob") }} {{ "k" | sharedBlob("${BOB}") }} {{ "k" | sharedBlob("${CAROL}") }}`,
        "b.liquid": `{{ "k" | sharedBlob: "alice" }}`,
      },
    });
    const bobs = `https://alice.example/shared/${BOB}/k`;
    expect(built.read("a/index.html")).toBe(`${bobs} ${bobs} https://alice.example/shared/${CAROL}/k`);
    expect(built.read("b/index.html")).toBe(`${SHARED}/k`);
  });

  it("returns an absolute URL with the path prefix, also in a local build", async () => {
    const built = await site({
      options: `{ host: "static", key: "${ALICE}", blobs: true }`,
      files: { "a.njk": `{{ "k" | sharedBlob }}`, "b.md": "![](blob:k)" },
      config: `return { pathPrefix: "/blog/" };`,
    });
    const url = `https://alice.example/blog/shared/${ALICE}/k`;
    expect(built.read("a/index.html")).toBe(url);
    expect(built.read("b/index.html")).toBe(`<p><img src="${url}" alt=""></p>\n`);
  });

  const KEY_WANTED = 'expected the key of a blob, 1 to 128 of A-Z a-z 0-9 . _ -, such as "quinces.jpg"';
  const OWNER_WANTED =
    'expected a user of this site ("alice", "bob"), the public key of one, or a key from the options blobs.owners and blobs.formerKeys';
  it.each([
    ["a key with a space", "a b", undefined, `${KEY_WANTED}, got "a b".`],
    ["a key that is a parent directory", "..", undefined, `${KEY_WANTED}, got "..".`],
    ["a key that is too long", "k".repeat(129), undefined, `${KEY_WANTED}, got "${"k".repeat(129)}".`],
    ["a number", 2024, undefined, `${KEY_WANTED}, got 2024.`],
    ["no key", undefined, undefined, `${KEY_WANTED}, got nothing.`],
    ["an unknown user", "k", "dave", `${OWNER_WANTED}, got "dave".`],
    ["an empty user", "k", "", `${OWNER_WANTED}, got "".`],
    ["a key that may not store blobs here", "k", DAVE, `${OWNER_WANTED}, got "${DAVE}".`],
  ])("throws an error with the page and the expected value: %s", (_, key, owner, message) => {
    expect(() => sharedBlobs(blogOfTwo).toUrl(key, owner, "./posts/a.njk")).toThrow(
      `[eleventy-plugin-twtxt] ./posts/a.njk: the filter "sharedBlob": ${message}`,
    );
  });

  it("stops the build with the name of the file if the option blobs is off", async () => {
    const built = await buildSite({ files: { "posts/a.njk": `{{ "k" | sharedBlob }}` } });
    expect(built.exitCode).not.toBe(0);
    expect(built.log).toContain(
      `[eleventy-plugin-twtxt] ./posts/a.njk: the filter "sharedBlob" got "k", but this site stores no blobs. Set the option blobs: true.`,
    );
  });
});

/** Name, Markdown and expected HTML. */
const cases: [name: string, md: string, html: string][] = [
  ["an image", "![Quinces](blob:quinces.jpg)", `<p><img src="${SHARED}/quinces.jpg" alt="Quinces"></p>`],
  ["a link", "[a list](blob:list)", `<p><a href="${SHARED}/list">a list</a></p>`],
  [
    "an image in a link, with titles",
    `[![a](blob:small.jpg "A")](blob:large.jpg "B")`,
    `<p><a href="${SHARED}/large.jpg" title="B"><img src="${SHARED}/small.jpg" alt="a" title="A"></a></p>`,
  ],
  [
    "a reference definition",
    "![a][pic] and [b][]\n\n[pic]: blob:A.jpg\n[b]: <blob:B.pdf>",
    `<p><img src="${SHARED}/A.jpg" alt="a"> and <a href="${SHARED}/B.pdf">b</a></p>`,
  ],
  [
    "a key with capitals, dots, a dash and an underscore",
    "[x](blob:My_File-1..v2.PNG)",
    `<p><a href="${SHARED}/My_File-1..v2.PNG">x</a></p>`,
  ],
  ["a content address", `[x](blob:${HASH})`, `<p><a href="${SHARED}/${HASH}">x</a></p>`],
  [
    "a heading, a list and a table",
    "## [h](blob:h)\n\n- [l](blob:l)\n\n| [t](blob:t) |\n|---|",
    `<h2><a href="${SHARED}/h">h</a></h2>\n<ul>\n<li><a href="${SHARED}/l">l</a></li>\n</ul>\n<table>\n<thead>\n<tr>\n<th><a href="${SHARED}/t">t</a></th>\n</tr>\n</thead>\n</table>`,
  ],
  [
    "inline HTML",
    `A <img src="blob:a.jpg" alt="blob:a.jpg"> and <a class='x' href='blob:b'>b</a>`,
    `<p>A <img src="${SHARED}/a.jpg" alt="blob:a.jpg"> and <a class='x' href="${SHARED}/b">b</a></p>`,
  ],
  [
    "an HTML block",
    `<figure>\n<video poster="blob:p.jpg" controls><source src=blob:v.mp4></video>\n</figure>`,
    `<figure>\n<video poster="${SHARED}/p.jpg" controls><source src="${SHARED}/v.mp4"></video>\n</figure>`,
  ],
  [
    "a code span",
    '`![a](blob:k)` `<img src="blob:k">`',
    `<p><code>![a](blob:k)</code> <code>&lt;img src=&quot;blob:k&quot;&gt;</code></p>`,
  ],
  [
    "a code block",
    '```\n![a](blob:k)\n<img src="blob:k">\n```',
    `<pre><code>![a](blob:k)\n&lt;img src=&quot;blob:k&quot;&gt;\n</code></pre>`,
  ],
  ["plain text", "blob:k", "<p>blob:k</p>"],
  ["an escaped link", "\\[a](blob:k)", "<p>[a](blob:k)</p>"],
  ...[
    "blob:https://alice.example/1f0c",
    "blob:null/1f0c",
    "blob:",
    "blob:..",
    "blob:a%20b",
    "blob:a?b",
    `blob:${"k".repeat(129)}`,
    "./blob:k",
  ].map((href): [string, string, string] => [href, `[a](${href})`, `<p><a href="${href}">a</a></p>`]),
];

describe("blob:KEY in Markdown, by markdown-it", () => {
  let built: BuiltSite;
  beforeAll(async () => {
    // In files other than HTML pages, only the Markdown library replaces links.
    const files = Object.fromEntries(
      cases.map(([, md], i) => [`n${i}.md`, quoted({ permalink: `n${i}.txt` }, `${md}\n`)]),
    );
    built = await site({ options: ON, files });
  });

  it.each(cases.map(([name, , html], i) => ({ name, html, i })))("$name", ({ html, i }) => {
    expect(built.read(`n${i}.txt`)).toBe(`${html}\n`);
  });
});

describe("blob:KEY in feeds", () => {
  const body = `Look: ![Quinces](blob:quinces.jpg), and [the list](blob:List.pdf), <img src="blob:c.png" alt="c">, not \`blob:x\``;
  const text = `Look: ![Quinces](${SHARED}/quinces.jpg), and [the list](${SHARED}/List.pdf), ![c](${SHARED}/c.png), not \`blob:x\``;

  it("becomes the URL in a note's twt, in the RSS plugin's feed and in a template's feed", async () => {
    const built = await site({
      options: ON,
      imports: `import { feedPlugin } from "@11ty/eleventy-plugin-rss";`,
      config: `config.addPlugin(feedPlugin, { outputPath: "/feed.xml", collection: { name: "posts" },
        metadata: { language: "en", title: "Alice", base: "https://alice.example/" } });`,
      files: {
        "a.md": note(body),
        "all.njk":
          "---\npermalink: /all.xml\n---\n{% for p in collections.posts %}{{ p.templateContent | safe }}{% endfor %}",
      },
    });
    expect(textAt(built, AT)).toBe(text);
    expect(built.read("all.xml")).toContain(`<img src="${SHARED}/quinces.jpg" alt="Quinces">`);
    expect(built.read("all.xml")).toContain(`<img src="${SHARED}/c.png" alt="c">`);
    expect(built.read("feed.xml")).toContain(`&lt;img src=&quot;${SHARED}/quinces.jpg&quot;`);
    expect(`${built.read("feed.xml")}${built.read("all.xml")}`).not.toMatch(/(src|href)=("|&quot;)blob:/);
  });

  it("becomes the URL in a twt from another Markdown library or a template", async () => {
    const html = `<p>Look: <img src="blob:quinces.jpg" alt="Quinces">, <a href="blob:List.pdf">the list</a></p>`;
    const built = await site({
      options: ON,
      config: raw,
      files: {
        "a.md": note(html),
        "b.njk": note(html, { date: "2026-01-02T03:04:06Z" }),
        "c.md": note(html, { date: "2026-01-02T03:04:07Z", permalink: false }),
      },
    });
    const twt = `Look: ![Quinces](${SHARED}/quinces.jpg), [the list](${SHARED}/List.pdf)`;
    for (const second of ["05", "06", "07"]) expect(textAt(built, `2026-01-02T03:04:${second}Z`)).toBe(twt);
  });

  it("becomes the URL in text from the front matter, except in code", async () => {
    const built = await site({
      options: ON,
      files: { "a.md": note("Body", { title: "T", twt: "See ![q](blob:q.jpg), not `[c](blob:c)` or blob:d" }) },
    });
    expect(textAt(built, AT)).toBe(`See ![q](${SHARED}/q.jpg), not \`[c](blob:c)\` or blob:d`);
  });
});

describe("blob:KEY in Markdown with Eleventy plugins that change links", () => {
  it("is replaced before transforms, such as Eleventy's image transform, which leave the URL unchanged", async () => {
    const built = await site({
      options: ON,
      imports: `import { EleventyHtmlBasePlugin, InputPathToUrlTransformPlugin } from "@11ty/eleventy";`,
      config: `config.addPlugin(EleventyHtmlBasePlugin);
        config.addPlugin(InputPathToUrlTransformPlugin);
        config.htmlTransformer.addPosthtmlPlugin("html", () => (tree) => {
          tree.match({ tag: "img" }, (node) => ({ ...node, attrs: { ...node.attrs, alt: "I saw " + node.attrs.src } }));
        });
        return { pathPrefix: "/blog/" };`,
      files: { "a.md": note("![](blob:k) [there](/a.md)"), "b.njk": `<a href="blob:k">b</a>` },
    });
    const url = `https://alice.example/blog/shared/${ALICE}/k`;
    expect(built.read("a/index.html")).toBe(
      `<p><img src="${url}" alt="I saw ${url}"> <a href="/blog/a/">there</a></p>\n`,
    );
    expect(built.read("b/index.html")).toBe(`<a href="${url}">b</a>`);
    expect(textAt(built, AT)).toBe(`![](${url}) [there](https://alice.example/blog/a/)`);
  });
});

describe("blob:KEY in HTML pages", () => {
  const pages: [name: string, html: string, expected: string][] = [
    ["an image", `<img src="blob:a.jpg">`, `<img src="${SHARED}/a.jpg">`],
    [
      "an srcset",
      `<img srcset="blob:s.jpg 480w, blob:l.jpg 2x,/m.jpg?a=1&amp;b=2 3x" src='blob:l.jpg'>`,
      `<img srcset="${SHARED}/s.jpg 480w, ${SHARED}/l.jpg 2x,/m.jpg?a=1&amp;b=2 3x" src="${SHARED}/l.jpg">`,
    ],
    [
      "audio and video",
      `<audio controls src=blob:a.ogg></audio><video src="blob:v.mp4" poster="blob:p.png"></video>`,
      `<audio controls src="${SHARED}/a.ogg"></audio><video src="${SHARED}/v.mp4" poster="${SHARED}/p.png"></video>`,
    ],
    ["a link in capitals, across lines", `<A\n  HREF = "blob:a"\n>a</A>`, `<A\n  HREF = "${SHARED}/a"\n>a</A>`],
    [
      "an image after an unclosed SVG tag",
      `<svg><title/></svg><img src="blob:k">`,
      `<svg><title/></svg><img src="${SHARED}/k">`,
    ],
    ["a link in the head", `<link rel="icon" href="blob:i.png">`, `<link rel="icon" href="${SHARED}/i.png">`],
    [
      "text that looks like an attribute",
      `<img alt='> src="blob:k"' data-src="blob:k" src="blob:real">`,
      `<img alt='> src="blob:k"' data-src="blob:k" src="${SHARED}/real">`,
    ],
    ...[
      `<p title="blob:k">blob:k</p>`,
      `<code>&lt;img src="blob:k"></code>`,
      `<!-- <img src="blob:k"> -->`,
      `<textarea><img src="blob:k"></textarea>`,
      `<script>x = '<img src="blob:k">'</script>`,
      `<!-- a comment without an end <img src="blob:k">`,
      `<script>x = '<img src="blob:k">'`,
      `<img src="blob:https://alice.example/1f0c">`,
      `<img srcset="/x-blob:k 1x, blob:k/l 2x">`,
      `<a href="https://x.example/?blob:k">a</a>`,
    ].map((html): [string, string, string] => [html, html, html]),
  ];

  it.each([
    ["from a Markdown library that does not change it", "md", raw],
    ["from a template language", "njk", ""],
  ])("%s", async (_, language, config) => {
    const files = Object.fromEntries(pages.map(([, html], i) => [`n${i}.${language}`, html]));
    const built = await site({ options: ON, config, files });
    const found = pages.map(([name], i) => [name, built.read(`n${i}/index.html`)]);
    expect(found).toEqual(pages.map(([name, , expected]) => [name, expected]));
  });

  it("is escaped for its attribute", () => {
    const settings = checkOptions({ url: "https://alice.example", nick: "alice", key: ALICE, blobs: true });
    const blobs = new SharedBlobs({ settings, ...STATIC, absolute: (path) => `https://alice.example/it's"&/${path}` });
    const url = `https://alice.example/it's&quot;&amp;//shared/${ALICE}`;
    expect(blobs.linkInHtml(`<img src='blob:a' srcset='blob:b 1x, x".jpg 2x' alt=''>`, undefined)).toBe(
      `<img src="${url}/a" srcset="${url}/b 1x, x&quot;.jpg 2x" alt=''>`,
    );
  });

  it("is not replaced in files other than HTML pages", async () => {
    const built = await site({
      options: ON,
      files: { "a.njk": `---\npermalink: /a.txt\n---\n<img src="blob:k">` },
    });
    expect(built.read("a.txt")).toBe(`<img src="blob:k">`);
  });
});

describe("a site without blobs", () => {
  const warnings = (built: BuiltSite) => logged(built).filter((sentence) => sentence.includes("blob"));

  it("keeps the links, and gets one warning with the files and a fix", async () => {
    const built = await site({
      files: {
        "posts/a.md": note("![a](blob:a.jpg) and [b](blob:b)"),
        "posts/b.md": note("Mine: [c](blob:c)", { permalink: false, date: "2026-01-02T03:04:06Z" }),
        "c.njk": `<p><img src="blob:c.jpg"></p>`,
      },
    });
    expect(built.read("posts/a/index.html")).toBe(`<p><img src="blob:a.jpg" alt="a"> and <a href="blob:b">b</a></p>\n`);
    expect(textAt(built, AT)).toBe("![a](blob:a.jpg) and [b](blob:b)");
    const [sentence = "", ...others] = warnings(built);
    expect(others).toEqual([]);
    expect(sentence).toMatch(
      /^Broken link "blob:\.\.\.", because this site stores no blobs: (.*)\. Set the option blobs: true, or change the link\.$/,
    );
    for (const file of ["./posts/a.md", "./posts/b.md", "./c.njk"]) expect(sentence).toContain(file);
  });

  it("gets the warning also for text in the front matter", async () => {
    const built = await site({ files: { "a.md": note("Body", { title: "T", twt: "[q](blob:q)" }) } });
    expect(textAt(built, AT)).toBe("[q](blob:q)");
    expect(warnings(built)).toEqual([expect.stringContaining("./a.md")]);
  });

  it("gets a warning only for links of the current build", async () => {
    const blobs = sharedBlobs({});
    expect(blobs.linkInHtml(`<img src="blob:k">`, "./a.md")).toBe(`<img src="blob:k">`);
    expect((await blobs.check()).warnings).toEqual([expect.stringContaining("./a.md")]);
    expect(await blobs.check()).toEqual({ warnings: [], notes: [] });
  });

  it("gets no warning without such links", async () => {
    const built = await site({
      files: { "a.md": note("`[q](blob:q)`, blob:q, [a](blob:https://alice.example/1f0c)") },
    });
    expect(warnings(built)).toEqual([]);
  });
});

describe("a build with blobs", () => {
  const files = { "a.md": note("hello") };
  const source = ({ folder }: BuiltSite) => join(folder, ".netlify/v1/functions/twtxt-blob.mjs");
  const owners = `{ count: 10, megabytes: 20, maxMegabytes: 3, owners: ["${BOB}", "${ALICE}"] }`;

  it("writes one Netlify function for both paths, with the platform's limits", async () => {
    const alice = await site({ files, options: `{ host: "netlify", key: "${ALICE}", blobs: true }` });
    expect(readFileSync(source(alice), "utf8")).toContain(
      `export const config = {"path":["/api/v1/blob","/api/v1/blob/*","/shared/*"],"nodeBundler":"none",`,
    );
    expect(readFileSync(source(alice), "utf8")).toMatch(/^import \{ blobs \} from ".*\/blobs\.js";$/m);
    const settings = {
      hasEndpoints: true,
      urls: { blobs: "https://alice.example/api/v1/blob", shared: "https://alice.example/shared" },
      blobs: { owners: [ALICE], count: 1000, bytes: 1000 * 2 ** 20, maxBytes: 4 * 2 ** 20 },
    };
    expect(handoverJson(alice, "host.json").settings).toMatchObject(settings);
    expect(handoverJson(alice, "settings.json")).toMatchObject(settings);
  });

  it("keeps the URLs of `blob:` links, and so the hashes of twts, when the key changes", async () => {
    const posts = { "a.md": note("![q](blob:q.jpg)"), "b.njk": `{{ "q.jpg" | sharedBlob }}` };
    const before = await site({ files: posts, options: `{ host: "node", key: "${ALICE}", blobs: true }` });
    const after = await site({
      files: posts,
      options: `{ host: "node", key: "${BOB}", blobs: { formerKeys: ["${ALICE}"] } }`,
    });
    expect(before.texts()[0]).toContain(`${SHARED}/q.jpg`);
    expect(after.texts()).toEqual(before.texts());
    expect(after.read("b/index.html")).toBe(before.read("b/index.html"));
    expect(handoverJson(after, "host.json").settings.blobs).toMatchObject({
      owners: [BOB, ALICE],
      sameOwner: [BOB, ALICE],
    });
  });

  it("writes no function for a Node host, but the limits from the option", async () => {
    const alice = await site({ files, options: `{ host: "node", key: "${ALICE}", blobs: ${owners} }` });
    expect(existsSync(join(alice.folder, ".netlify"))).toBe(false);
    expect(handoverJson(alice, "host.json").settings.blobs).toEqual({
      owners: [ALICE, BOB],
      count: 10,
      bytes: 20 * 2 ** 20,
      maxBytes: 3 * 2 ** 20,
    });
    expect(handoverJson(alice, "settings.json").blobs).toMatchObject({ maxBytes: 3 * 2 ** 20 });
    expect(logged(alice).filter((sentence) => sentence.includes("blobs"))).toEqual([]);
  });

  it("with a path prefix serves paths with and without it, and links to URLs with it", async () => {
    const alice = await site({
      files,
      options: `{ host: "netlify", key: "${ALICE}", blobs: true }`,
      config: `return { pathPrefix: "/blog/" };`,
    });
    const paths = ["/api/v1/blob", "/api/v1/blob/*", "/shared/*"];
    const both = [...paths, ...paths.map((path) => `/blog${path}`)];
    expect(readFileSync(source(alice), "utf8")).toContain(`{"path":${JSON.stringify(both)},`);
    const urls = { blobs: "https://alice.example/blog/api/v1/blob", shared: "https://alice.example/blog/shared" };
    expect(handoverJson(alice, "settings.json").urls).toMatchObject(urls);
    expect(handoverJson(alice, "host.json").settings.urls).toMatchObject(urls);
  });

  it("warns blobMessages pages under /shared/", async () => {
    const hidden = (built: BuiltSite) => logged(built).filter((sentence) => sentence.includes("Pages below /shared/"));
    const page = "---\npermalink: /shared/mine/\n---\nMine";
    const built = await site({
      files: { "mine.njk": page, "shared.njk": "Mine", "sharing.njk": "Elsewhere" },
      options: `{ key: "${ALICE}", blobs: true, host: "node" }`,
    });
    expect(hidden(built)).toEqual([
      "Pages below /shared/ cannot be reached, because public blobs are served there: ./mine.njk, ./shared.njk. Give them another permalink.",
    ]);
    const off = await site({ files: { "mine.njk": page }, options: `{ key: "${ALICE}", host: "node" }` });
    expect(hidden(off)).toEqual([]);
  });

  it.each([
    ["a static host", `host: "static"`],
    ["Netlify without functions", `host: "netlify", functions: false`],
  ])("has no blob endpoint on %s, and logs the reason", async (_, place) => {
    const alice = await site({ files, options: `{ ${place}, key: "${ALICE}", inbox: false, blobs: true }` });
    expect(existsSync(source(alice))).toBe(false);
    expect(handoverJson(alice, "settings.json").hasEndpoints).toBe(false);
    expect(logged(alice).filter((sentence) => sentence.includes("blobs"))).toEqual([
      `No blobs are stored: this host cannot receive them. If Netlify or your own server serves the site, set the option host: "netlify" or host: "node", and do not set functions: false. Otherwise turn off this note with blobs: false.`,
    ]);
  });

  it("removes the function when the option is turned off", async () => {
    const first = await site({ files, options: `{ host: "netlify", key: "${ALICE}", blobs: true }` });
    expect(existsSync(source(first))).toBe(true);
    const second = await site({ files, site: first, options: `{ host: "netlify", key: "${ALICE}" }` });
    expect(existsSync(source(second))).toBe(false);
    expect([handoverJson(second, "host.json").settings.blobs, handoverJson(second, "settings.json").blobs]).toEqual([
      null,
      null,
    ]);
  });

  it("stops without a key, because blobs require an owner", async () => {
    const built = await buildSite({ files, options: "{ blobs: true }" });
    expect(buildError(built)).toBe(
      "options.key: expected your public key, because options.blobs is set. To create one, run: npx eleventy-twtxt keys create alice@alice.example",
    );
    expect(projectFile(built, ".eleventy-twtxt/settings.json")).toBeNull();
  });
});

describe("a broken link to a blob", () => {
  const files = {
    "a.md": note("![There](blob:there.png) ![Private](blob:private.png) [b](blob:a%20b) [c](blob:https://x.example/1)"),
    "b.njk": `<img src="blob:private.png"> {{ "there.png" | sharedBlob }}`,
  };
  const blobMessages = (built: BuiltSite) => logged(built).filter((sentence) => /blob/i.test(sentence));

  it("is reported with its page and the command to run", async () => {
    const requests: string[] = [];
    const alice = await loopbackServer(({ method, url }, response) => {
      if (url?.startsWith("/shared/")) requests.push(`${method} ${url.split("/").at(-1)}`);
      response.writeHead(url === `/shared/${ALICE}/there.png` ? 200 : 404).end();
    });
    const options = `{ host: "node", key: "${ALICE}", blobs: true, url: "${alice.url}" }`;
    const built = await site({ files, options });
    expect(blobMessages(built)).toEqual([
      `./a.md: broken link "blob:a%20b". Write blob: and a key of A-Z a-z 0-9 . _ - as "npx eleventy-twtxt blob list" shows it.`,
      `./a.md: broken link blob:private.png, because your site has no public blob with this key. See "npx eleventy-twtxt blob list". If the blob is private, run: npx eleventy-twtxt blob share private.png. If it is missing: npx eleventy-twtxt blob put FILE --public --key private.png`,
    ]);
    expect(requests.toSorted()).toEqual(["HEAD private.png", "HEAD there.png"]);
  });

  it("is not reported if the site does not respond; the log has a notice", async () => {
    const alice = await loopbackServer((_, response) => response.destroy());
    const options = `{ host: "node", key: "${ALICE}", blobs: true, url: "${alice.url}", mentions: false }`;
    const built = await site({ files: { "a.md": note("![](blob:k)") }, options });
    expect(blobMessages(built)).toEqual([expect.stringMatching(/^The links to blobs could not be checked: /)]);
  });

  it("is reported if the host stores no blobs", async () => {
    const options = `{ host: "static", key: "${ALICE}", blobs: true }`;
    const built = await site({ files: { "a.md": note("![](blob:k)") }, options });
    expect(blobMessages(built)).toContain('Broken link "blob:...", because this host stores no blobs: ./a.md.');
  });
});

describe("a blob key", () => {
  it.each(["a", "A.b_c-9", "...", ".a", "..a", "a..", "k".repeat(128), ".", "..", "", "k".repeat(129), "a b", "ä"])(
    "is valid in a link if and only if it is valid in a request: %j",
    (key) => {
      const blobs = sharedBlobs({ key: ALICE, blobs: true });
      expect(blobs.linkInHtml(`<a href="blob:${key}">`, undefined) === `<a href="${SHARED}/${key}">`).toBe(
        isBlobKey(key),
      );
      expect(blobs.linkInText(`[a](blob:${key})`, "a.md") === `[a](${SHARED}/${key})`).toBe(isBlobKey(key));
    },
  );
});
