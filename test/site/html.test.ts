import fc from "fast-check";
import { type DefaultTreeAdapterTypes, parseFragment } from "parse5";
import { describe, expect, it } from "vitest";
import { element, type Markup, toHtml, writtenHtml } from "../../plugin/site/html.js";
import { anyCharacter } from "../helpers/any-character.js";
import { runs } from "../helpers/runs.js";

const syntax = ["<", ">", "&", '"', "'", "/", "=", "<b", "</span>", "<!--", "&lt", "&amp;", "&#97;", " ", "\n", "a"];
/** Without CR and NUL, which HTML cannot contain. */
const text = fc
  .oneof(fc.string({ unit: anyCharacter }), fc.string({ unit: fc.constantFrom(...syntax) }))
  .map((value) => value.replace(/[\r\0]/g, ""));
const attributes = fc.dictionary(fc.constantFrom("class", "href", "title", "data-source"), text, {
  noNullPrototype: true,
});

const { markup } = fc.letrec<{ markup: Markup }>((tie) => ({
  markup: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.tuple(fc.constantFrom("br", "img"), attributes).map(([tag, values]) => element(tag, values)),
    fc
      .tuple(fc.constantFrom("span", "em", "code", "div"), attributes, fc.array(tie("markup"), { maxLength: 4 }))
      .map(([tag, values, children]) => element(tag, values, ...children)),
  ),
}));

function read(node: DefaultTreeAdapterTypes.ChildNode): Markup {
  if ("value" in node) return node.value;
  if (!("attrs" in node)) throw new Error(`Unexpected node: ${node.nodeName}`);
  const values = Object.fromEntries(node.attrs.map(({ name, value }) => [name, value]));
  return element(node.tagName, values, ...node.childNodes.map(read));
}

/** Joins adjacent texts and removes empty ones, as a parser does. */
function normalized(nodes: Iterable<Markup>): Markup[] {
  const result: Markup[] = [];
  for (const node of nodes) {
    const last = result.at(-1);
    if (typeof node !== "string") result.push("tag" in node ? { ...node, children: normalized(node.children) } : node);
    else if (typeof last === "string") result[result.length - 1] = last + node;
    else if (node !== "") result.push(node);
  }
  return result;
}

describe("markup as HTML", () => {
  it("is parsed as the same elements and texts, whatever they contain", () => {
    fc.assert(
      fc.property(markup, (tree) => {
        expect(normalized(parseFragment(toHtml(tree)).childNodes.map(read))).toEqual(normalized([tree]));
      }),
      { numRuns: runs(200) },
    );
  });

  it("has list items that are created during writing", () => {
    function* items() {
      yield element("li", {}, "<a>");
      yield element("li", {}, "b");
    }
    expect(toHtml({ tag: "ol", attributes: {}, children: items() })).toBe("<ol><li>&lt;a&gt;</li><li>b</li></ol>");
  });

  it("is the same if a part was written in advance", () => {
    fc.assert(
      fc.property(markup, (tree) => {
        expect(toHtml(element("div", {}, writtenHtml(tree, "&")))).toBe(toHtml(element("div", {}, tree, "&")));
      }),
      { numRuns: runs(100) },
    );
  });

  it.each([
    ["a text", "<b>&amp;</b>", "&lt;b&gt;&amp;amp;&lt;/b&gt;"],
    ["an attribute", element("p", { title: `"><script>` }), '<p title="&quot;&gt;&lt;script&gt;"></p>'],
    ["an element without content", element("img", { src: "/bob.png", alt: "" }), '<img src="/bob.png" alt="">'],
  ])("escapes markup characters: %s", (_name, tree: Markup, html) => {
    expect(toHtml(tree)).toBe(html);
  });
});
