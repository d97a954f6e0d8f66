import type { Element } from "hast";
import { describe, expect, it } from "vitest";
import { parseHtml, walkElements } from "../../../plugin/http/parse-html.js";
import { findContent, readContent } from "../../../plugin/mentions/verify/page-content.js";
import { toHtml } from "../../../plugin/site/html.js";
import { readHtml } from "../../../plugin/site/read-html.js";
import { HOSTILE_TEXTS } from "../../helpers/hostile-texts.js";

async function entryOf(html: string): Promise<Element> {
  const { tree } = await parseHtml(`<!doctype html><div id="entry" class="h-entry">${html}</div>`);
  const entry = [...walkElements(tree)].find(({ properties }) => properties.id === "entry");
  if (!entry) throw new Error("no entry");
  return entry;
}

async function contentOf(html: string, limit = 5000) {
  const content = findContent(await entryOf(`<div class="e-content">${html}</div>`));
  return content && readContent(content, "https://bob.example/notes/1/", limit);
}

const REL = 'rel="nofollow ugc noopener"';

it("takes time in proportion to its length, also for code of spaces: 40,000 tabs took 20 seconds", async () => {
  const content = findContent(await entryOf(`<div class="e-content"><pre>a${"\t".repeat(40_000)}b</pre></div>`));
  const before = process.cpuUsage();
  expect(content && readContent(content, "https://bob.example/", 5000)?.text).toMatch(/^a\s*…$/);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(5);
});

describe("the content of a reply", () => {
  it("keeps links, code, emphasis, paragraphs, quotations and lists", async () => {
    const found = await contentOf(`
      <p>I <b>like</b> <i>quinces</i>, see <a href="../2/" onclick="x()" class="y">my
      recipe</a>.<br>Run <kbd>npm ci</kbd>:</p>
      <pre><code class="language-js">if (x) {
\ty();
}
</code></pre>
      <blockquote><p>Quinces are sour.</p></blockquote>
      <ul><li>sugar</li><li><p>water</p><ol><li>cold</li></ol></li></ul>`);
    expect(found).toEqual({
      html: [
        `<p>I <strong>like</strong> <em>quinces</em>, see <a href="https://bob.example/notes/2/" ${REL}>my recipe</a>.<br>Run <code>npm ci</code>:</p>`,
        "<pre><code>if (x) {\n    y();\n}</code></pre>",
        "<blockquote><p>Quinces are sour.</p></blockquote>",
        "<ul><li>sugar</li><li>water<ol><li>cold</li></ol></li></ul>",
      ].join("\n"),
      text: "I like quinces, see my recipe.\nRun npm ci:\nif (x) {\n    y();\n}\nQuinces are sour.\nsugar\nwater\ncold",
    });
  });

  it.each([
    ["text without a paragraph", "one<div>two</div>three", "<p>one</p>\n<p>two</p>\n<p>three</p>"],
    ["headings", "<h2>Title</h2>text", "<p><strong>Title</strong></p>\n<p>text</p>"],
    ["a link around a block", '<a href="/x"><h2>Title</h2></a>', "<p><strong>Title</strong></p>"],
    ["pictures, by their descriptions", '<p>a <img src="/x.png" alt="cat" onerror=x()></p>', "<p>a cat</p>"],
    ["a link that is no web link", '<p><a href="javascript:alert(1)">x</a></p>', "<p>x</p>"],
    ["scripts and styles", "<p>a<script>alert(1)</script><style>p{}</style>b</p>", "<p>ab</p>"],
    ["empty elements", "<p> </p><ul><li></li></ul><em></em>a", "<p>a</p>"],
    ["right-to-left overrides", "<p>a\u202eb\u2066c</p>", "<p>abc</p>"],
    ["emphasis in emphasis", "<p><em>a<i>b</i></em></p>", "<p><em>ab</em></p>"],
  ])("is reduced: %s", async (_, html, expected) => {
    expect((await contentOf(html))?.html).toBe(expected);
  });

  it("is not that of a cited post or of an author", async () => {
    const cited = '<div class="u-in-reply-to h-cite"><p class="e-content">original</p></div>';
    const found = findContent(await entryOf(`${cited}<div class="e-content">answer</div>`));
    expect(found && readContent(found, "https://bob.example/", 500)?.text).toBe("answer");
    expect(findContent(await entryOf(cited))).toBeNull();
  });

  it("is cut at a word, and nothing follows", async () => {
    const found = await contentOf(`<p>${"word ".repeat(30)}</p><ul><li>one two</li><li>three</li></ul>`, 155);
    expect(found?.html).toMatch(/<ul><li>one…<\/li><\/ul>$/);
    expect(found?.text).toMatch(/word\none…$/);
    const long = await contentOf(`<p>${"word ".repeat(3000)}</p><p>more</p>`);
    expect([...(long?.text ?? "")].length).toBeLessThanOrEqual(5001);
    expect(long?.text).toMatch(/ word…$/);
  });

  it("has at most 500 elements, 8,000 characters of links and four levels, however large the page is", async () => {
    const links = await contentOf(`<p>${`<a href="/${"x".repeat(1000)}">y</a> `.repeat(1000)}</p>`);
    expect(links?.html.length).toBeLessThan(20_000);
    const items = await contentOf(`<ul>${"<li><em>x</em></li>".repeat(2000)}</ul>`);
    expect(items?.html.split("<").length).toBeLessThan(1100);
    const deep = await contentOf(`${"<blockquote>".repeat(100)}deep`);
    expect(deep?.html).toBe(`${"<blockquote>".repeat(4)}<p>deep</p>${"</blockquote>".repeat(4)}`);
    const nodes = await contentOf("<p>x</p>".repeat(20_000));
    expect(nodes?.text.length).toBeLessThan(6000);
  });

  it("is safe for each hostile text, and a page reads it as it was written", async () => {
    const allowed =
      /^<(\/?(p|code|pre|em|strong|blockquote|ul|ol|li)|br|\/a|a href="https?:\/\/[^"<>]*" rel="nofollow ugc noopener")>$/;
    for (const text of HOSTILE_TEXTS) {
      const html = (await contentOf(text))?.html ?? "";
      for (const [tag] of html.matchAll(/<[^>]*>?/g)) expect(tag, text).toMatch(allowed);
      expect(readHtml(html).map(toHtml).join(""), text).toBe(html);
    }
  });
});
