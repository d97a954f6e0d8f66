import type { Nodes, Root } from "hast";
import { toText } from "hast-util-to-text";
import { describe, expect, it } from "vitest";
import { findBase, parseHtml, walkElements } from "../../plugin/http/parse-html.js";

const treeOf = async (html: string) => (await parseHtml(html)).tree;

async function tags(html: string): Promise<string[]> {
  return [...walkElements(await treeOf(html))].map(({ tagName }) => tagName);
}

const depthOf = async (html: string) => depthUnder(await treeOf(html));

function depthUnder(root: Root): number {
  let depth = 0;
  let level: Nodes[] = root.children;
  for (; level.length > 0; depth += 1) level = level.flatMap((node) => ("children" in node ? node.children : []));
  return depth;
}

describe("a page as a tree", () => {
  it("has its elements in document order, with their attributes", async () => {
    const root = await treeOf('<title>t</title><body><ul><li><a rel="me A" href="/x?a&amp;b">x</a><li>y</ul><p>z');
    const elements = [...walkElements(root)];
    expect(elements.map(({ tagName }) => tagName)).toEqual([
      "html",
      "head",
      "title",
      "body",
      "ul",
      "li",
      "a",
      "li",
      "p",
    ]);
    expect(elements[6]?.properties).toEqual({ rel: ["me", "A"], href: "/x?a&b" });
  });

  it("has the elements that a browser without JavaScript shows", async () => {
    expect(await tags("<body><noscript><p></p></noscript><template><b><template><i>")).toEqual(
      ["html", "head", "body", "noscript", "p", "template"], // no contents of templates
    );
  });

  it("has no attribute with a value longer than 16 KiB", async () => {
    const root = await treeOf(`<p class="${"a ".repeat(10_000)}" id="p"><a href="/${"a/".repeat(10_000)}" rel="me">`);
    const properties = [...walkElements(root)].map((element) => element.properties);
    expect(properties.slice(-2)).toEqual([{ id: "p" }, { rel: ["me"] }]);
  });

  it("has the first 200 attributes of an element", async () => {
    const names = [...Array(201).keys()].map((n) => `data-a${n}`);
    const [element] = [...walkElements(await treeOf(`<p ${names.join(" ")}>`))].slice(-1);
    expect(Object.keys(element?.properties ?? {})).toHaveLength(200);
  });

  it.each([2048, 2049])("has a base of up to 2,048 characters, and otherwise its own URL: %i", async (length) => {
    const base = "https://bob.example/".padEnd(length, "a");
    const elements = [...walkElements(await treeOf(`<base href="${base}">`))];
    const page = "https://bob.example/page";
    expect(findBase(elements, page)).toBe(length > 2048 ? page : base);
  });

  it("has the depth of its source if that is normal", async () => {
    expect(await depthOf(`${"<div>".repeat(100)}<p>`)).toBe(103); // with html and body
  });

  it.each([
    ["div", "<div>"],
    ["b", "<b>"],
    ["tables", "<table><tr><td>"],
    ["lists", "<ul><li>"],
    ["svg", "<svg><g>"],
    ["formatting that is closed in the wrong order", "<b><p></b>"],
    ["different attributes", "<i a><i b><i c>"],
  ])("has limited depth, with its elements in order: %s", async (_name, unit) => {
    const root = await treeOf(`${unit.repeat(2000)}<em>after</em>`);
    const elements = [...walkElements(root)];
    expect(elements.length).toBeGreaterThan(2000);
    expect(elements.at(-1)?.tagName).toBe("em");
    expect(depthUnder(root)).toBeLessThanOrEqual(129); // the text in the deepest element
  });

  it("has at most its first 50,000 elements, in limited depth", async () => {
    const root = await treeOf("<ul><li>".repeat(26_000));
    expect([...walkElements(root)]).toHaveLength(50_000);
    expect(depthUnder(root)).toBeLessThanOrEqual(129);
  });

  it("is small for any number of nested templates", async () => {
    expect(await tags("<template>".repeat(20_000))).toEqual(["html", "head", "template", "body"]);
  });

  it("can be walked by recursive code", async () => {
    expect(toText(await treeOf(`${"<i>".repeat(10_000)}all <b>the</b> text`))).toBe("all the text");
  });

  it("has elements in their order even if they are moved up", async () => {
    const html = `${"<div>".repeat(200)}<i></i><b><u></u></b></div><s></s>`;
    expect((await tags(html)).filter((tag) => !["html", "head", "body", "div"].includes(tag))).toEqual([
      "i",
      "b",
      "u",
      "s",
    ]);
  });

  it("is cut off if a small page expands to too many elements", async () => {
    const open = Array.from({ length: 2000 }, (_, at) => `<b a=${at}>`).join("");
    const elements = await tags(`<link><p>${open}${"<p>x".repeat(10_000)}`); // each p reopens every b
    expect(elements.slice(0, 3)).toEqual(["html", "head", "link"]);
    expect(elements.length).toBeLessThanOrEqual(50_000);
    expect(elements.length).toBeGreaterThan(10_000);
  });

  it("may have many sibling elements", async () => {
    expect((await tags("<p>".repeat(40_000))).length).toBe(40_003);
  });
});
