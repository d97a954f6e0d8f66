import { readFileSync } from "node:fs";
import { transformSync } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { twtHash } from "../../plugin/feed/hash.js";
import type { PublicMention } from "../../plugin/site/mention-list.js";
import { longMention } from "../helpers/long-conversation.js";
import { loopbackServer } from "../helpers/loopback.js";
import { type BuiltSite, post, site } from "../helpers/site.js";

const KEY = "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077";
const HOSTILE = `<script src="/x.js"></script> <b @html="7 * 7">&lt;</b> {{ 7 * 7 }} {% twtxtHead %} <%= 7 * 7 %>`;

/** A post layout in each template language, as in docs/templates.md. */
const LAYOUTS: Record<string, string> = {
  "post.njk": `<head></head>{{ content | safe }}{% twtxtMentions %}{% twtxtReply "Antworte mit:" %}{% twtxtContact %}`,
  "post.liquid": `<head></head>{{ content }}{% twtxtMentions %}{% twtxtReply "Antworte mit:" %}{% twtxtContact %}`,
  "raw.webc": `<!doctype html><html><head></head><body><main @raw="content"></main>
<div @raw="twtxtMentions()"></div><div @raw="twtxtReply('Antworte mit:')"></div><div @raw="twtxtContact()"></div></body></html>`,
  "html.webc": `<!doctype html><html><head></head><body><main @html="content"></main>
<template webc:nokeep @html="twtxtMentions()"></template><div @html="twtxtReply('Antworte mit:')"></div><div @html="twtxtContact()"></div></body></html>`,
  "post.hbs": `<head></head>{{{content}}}{{{twtxtMentions}}}{{{twtxtReply "Antworte mit:"}}}{{{twtxtContact}}}{{sharedBlob "quinces.jpg"}}`,
  "post.ejs": `<head></head><%- content %><%- twtxt.html.mentions(page) %><%- twtxt.html.reply(page, "Antworte mit:") %><%- twtxt.html.contact() %>`,
  "post.vto": `<head></head>{{ content }}{{ twtxtMentions }}{{ twtxtReply "Antworte mit:" }}{{ twtxtContact }}`,
  "post.11ty.js": `export default function ({ content }) {
  return "<head></head>" + content + this.twtxtMentions() + this.twtxtReply("Antworte mit:") + this.twtxtContact();
}`,
  "post.jsx.js": `const Contact = ({ twtxt }) => <div dangerouslySetInnerHTML={{ __html: twtxt.html.contact() }} />;

export default function ({ content, twtxt }) {
  return (
    <html>
      <head></head>
      <body>
        <div dangerouslySetInnerHTML={{ __html: content }} />
        <div dangerouslySetInnerHTML={{ __html: this.twtxtMentions() }} />
        <div dangerouslySetInnerHTML={{ __html: this.twtxtReply("Antworte mit:") }} />
        <Contact twtxt={twtxt} />
      </body>
    </html>
  );
}`,
};

const IMPORTS = `import ejs from "@11ty/eleventy-plugin-ejs";
import handlebars from "@11ty/eleventy-plugin-handlebars";
import webc from "@11ty/eleventy-plugin-webc";
import { VentoPlugin as vento } from "eleventy-plugin-vento";
import { renderToStaticMarkup } from "preact-render-to-string";
`;
const CONFIG = `for (const plugin of [ejs, handlebars, vento, webc]) config.addPlugin(plugin);
config.addTemplateFormats("jsx.js");
config.addExtension("jsx.js", {
  key: "11ty.js",
  compile() {
    return async function (data) { return renderToStaticMarkup(await this.defaultRenderer(data)); };
  },
});
`;
const SCRIPT = '<script type="module" src="/mentions/twtxt-mentions.js"></script>';

let built: BuiltSite;

beforeAll(async () => {
  const alice = await loopbackServer((_, response) => {
    const mentions = Object.keys(LAYOUTS).map((layout) => mentionOf(layout, alice.url));
    response.end(JSON.stringify({ mentions, next: null }));
  });
  const files = Object.entries(LAYOUTS).flatMap(([layout, text], i) => [
    [`_includes/${layout}`, layout === "post.jsx.js" ? compileJsx(text) : text],
    [`${nameOf(layout)}.md`, post({ title: layout, date: `2026-01-02T03:04:0${i}Z`, tags: "posts", layout }, "Beans.")],
  ]);
  built = await site({
    files: {
      ...Object.fromEntries(files),
      "own.md": post({ title: "own", date: "2026-01-03", tags: "posts", layout: "html.webc" }, "{% twtxtMentions %}"),
    },
    options: `{ url: "${alice.url}", host: "node", key: "${KEY}", blobs: true, mentions: { layout: "html.webc" } }`,
    imports: IMPORTS,
    config: CONFIG,
  });
});

describe("a layout", () => {
  it.each(Object.keys(LAYOUTS))("%s shows the post's mentions, the reply line and the contact form", (layout) => {
    const page = built.read(`${nameOf(layout)}/index.html`);
    const twt = built.feed().twts.find(({ text }) => text.startsWith(`${layout}:`));
    const feedUrl = built.feed().fields.url?.[0] ?? "";

    expect(page).toContain("<p>Beans.</p>");
    expect(page.match(/<li [^>]*class="h-cite[^>]*>/g)).toHaveLength(1);
    expect(page).toContain(`>bob of ${layout}</span></a>`);
    expect(page.split(SCRIPT)).toHaveLength(2);
    expect(page).toContain(
      `<p class="twtxt-reply">Antworte mit: <code>(#${twtHash(feedUrl, twt ?? { timestamp: "", text: "" })}) @&lt;alice ${feedUrl}&gt;</code></p>`,
    );
    expect(page).toContain('<strong class="twtxt-address">alice@');
  });

  it.each(Object.keys(LAYOUTS))("%s does not run strangers' text as a template", (layout) => {
    const page = built.read(`${nameOf(layout)}/index.html`);
    expect(page.replaceAll("&quot;", '"')).toContain(
      '>&lt;script src="/x.js"&gt;&lt;/script&gt; &lt;b @html="7 * 7"&gt;&amp;lt;&lt;/b&gt; {{ 7 * 7 }} {% twtxtHead %} &lt;%= 7 * 7 %&gt;</p>',
    );
  });

  it.each(documentedRows())("in %s uses the syntax from docs/templates.md", (language, shortcode, withLabel) => {
    const isShown = Object.values(LAYOUTS).some((text) => text.includes(shortcode) && text.includes(withLabel));
    expect({ language, isShown }).toEqual({ language, isShown: true });
  });

  it("in Handlebars has the URL of the first author's blob", () => {
    const [feedUrl = ""] = built.feed().fields.url ?? [];
    expect(built.read("post-hbs/index.html")).toContain(new URL(`/shared/${KEY}/quinces.jpg`, feedUrl).href);
  });

  it("in WebC renders a body that lists mentions, and the page with all mentions", () => {
    expect(built.read("own/index.html").split(SCRIPT)).toHaveLength(3);
    expect(built.read("mentions/index.html").split(SCRIPT)).toHaveLength(3);
    expect(built.read("mentions/index.html")).toContain(">bob of post.njk</span></a>");
  });

  it("leaves no WebC attribute on any page", () => {
    const pages = ["own", "mentions", "contact", ...Object.keys(LAYOUTS).map(nameOf)];
    expect(pages.filter((page) => built.read(`${page}/index.html`).includes("webc:"))).toEqual([]);
  });
});

/** The rows of the language table: name, shortcode, shortcode with a label. */
function documentedRows(): [string, string, string][] {
  const document = readFileSync(new URL("../../docs/templates.md", import.meta.url), "utf8");
  const [, table] = /\n\| Language \|[^\n]*\n\|[-|]*\n((?:\|[^\n]*\n)+)/.exec(document) ?? [];
  if (!table) throw new Error("docs/templates.md has no table of languages.");
  return [...table.matchAll(/^\| (.*?) \| `(.*?)` \| `(.*?)` \|$/gm)].map(([, name = "", ...code]) => [
    name,
    code[0] ?? "",
    code[1] ?? "",
  ]);
}

function compileJsx(text: string): string {
  return transformSync(text, { loader: "jsx", jsx: "automatic", jsxImportSource: "preact" }).code;
}

function nameOf(layout: string): string {
  return layout.replaceAll(".", "-");
}

function mentionOf(layout: string, url: string): PublicMention {
  const author = { name: `bob of ${layout}`, url: "https://bob.example/twtxt.txt", photo: null };
  return longMention(`${url}/${nameOf(layout)}/`, 0, {
    type: "mention",
    author,
    text: HOSTILE,
    html: null,
    hash: null,
  });
}
