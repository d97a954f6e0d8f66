import type { Element } from "hast";
import { describe, expect, it } from "vitest";
import { parseHtml, walkElements } from "../../../plugin/http/parse-html.js";
import { microformatsOutline } from "../../../plugin/mentions/verify/microformats.js";

async function outlineOf(html: string): Promise<string> {
  const body = [...walkElements((await parseHtml(html)).tree)].find(({ tagName }) => tagName === "body");
  return body ? microformatsOutline(body) : "";
}

const count = (html: string, tag: string) => html.split(`<${tag}`).length - 1;

describe("the outline of a page", () => {
  it("contains only what microformats need", async () => {
    expect(
      await outlineOf(`<section id="s" class="wide h-entry wide"><b onclick="x()">Hello</b>  <i class="p-name u-x">&lt;you&gt;</i>
        <img class="u-photo" src="/a?b&amp;c" alt='"' width="1"><script>x()</script><svg><text>y</text></svg>
        <time datetime="2026-01-02">then</time></section>`),
    ).toBe(
      '\n<div class="h-entry">Hello <div class="p-name">&lt;you&gt;</div> <img class="u-photo" src="/a?b&amp;c" alt="&quot;"> ' +
        '<time datetime="2026-01-02">then</time></div>\n',
    );
  });

  it("has a line for each block", async () => {
    const html = await outlineOf("<p>one <em>two</em>\n three</p>four<br>five<ul><li>six</ul>");
    expect(html.split("\n").filter((line) => line.trim() !== "")).toEqual(["one two three", "four", "five", "six"]);
  });

  it("has at most 500 elements in document order, and the text of the rest", async () => {
    const html = await outlineOf(`<a href="/first"></a>${"<time>x</time>".repeat(1000)}`);
    expect(html).toContain("/first");
    expect(count(html, "time")).toBe(499);
    expect(html.replace(/<[^>]*>/g, "")).toBe("x".repeat(1000));
  });

  it("has each class at most 50 times, and properties nested at most four deep", async () => {
    const flat = await outlineOf('<i class="p-name u-url">x</i>'.repeat(200));
    expect(count(flat, 'div class="p-name u-url"')).toBe(50);
    const nested = await outlineOf('<i class="e-content">x'.repeat(100));
    expect(count(nested, "div")).toBe(4);
    expect(nested.replace(/<[^>]*>/g, "")).toBe("x".repeat(100));
  });

  it("contains the first 5,000 elements and texts", async () => {
    const html = await outlineOf(`${"<p>".repeat(4990)}first${"<p>".repeat(100)}last`);
    expect(html).toContain("first");
    expect(html).not.toContain("last");
  });

  it("contains an author's name within the content", async () => {
    const entry = `<div class="h-entry"><div class="e-content p-name">
      <a class="p-author h-card" href="/bob"><i class="p-name">Bob</i></a></div></div>`;
    expect(await outlineOf(entry)).toContain(
      '<a class="h-card p-author" href="/bob"><div class="p-name">Bob</div></a>',
    );
  });

  it("leaves out the words of a content that is read elsewhere, and keeps its properties", async () => {
    const { tree } =
      await parseHtml(`<article class="h-entry"><b class="p-name">A title</b><div class="e-content"><p>Hello
      <a href="/x">there</a>, <a class="u-in-reply-to" href="https://alice.example/1/">Alice</a></p></div></article>`);
    const [entry, , content] = [...walkElements(tree)].slice(3);
    expect(microformatsOutline(entry as Element, content).replace(/\n/g, "")).toBe(
      '<div class="h-entry"><div class="p-name">A title</div><div class="e-content"><a class="u-in-reply-to" href="https://alice.example/1/">Alice</a></div></div>',
    );
  });

  it("has at most 16 KiB of text and no very long attribute", async () => {
    const html = await outlineOf(`<img src="data:,${"x".repeat(3000)}" alt="a">${"<p>xxxxxxxxx".repeat(3000)}`);
    expect(html).toContain('<img alt="a">');
    expect(html.replace(/<[^>]*>|\n/g, "")).toHaveLength(16 * 1024);
  });
});
