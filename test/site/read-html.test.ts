import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { element, type MarkupElement, toHtml } from "../../plugin/site/html.js";
import { readHtml } from "../../plugin/site/read-html.js";
import { safeElement } from "../../plugin/site/safe-markup.js";
import { textHtml } from "../../plugin/site/text-html.js";
import { HOSTILE_TEXTS } from "../helpers/hostile-texts.js";
import { runs } from "../helpers/runs.js";

const REL = "nofollow ugc noopener";

function rewritten(html: string): string {
  return readHtml(html).map(toHtml).join("");
}

/** HTML with one spelling of each character, and without the direction that mentions get. */
function normalized(html: string): string {
  const spellings: Record<string, string> = {
    "&#x26;": "&amp;",
    "&#x3C;": "&lt;",
    "&#x22;": '"',
    "&quot;": '"',
    "&gt;": ">",
    "&#x27;": "'",
    "&#x60;": "`",
  };
  return html.replaceAll(' dir="auto"', "").replace(/&#?\w+;/g, (reference) => spellings[reference] ?? reference);
}

const aText = fc.oneof(fc.string({ unit: "grapheme", maxLength: 8 }), fc.constantFrom("&copy;", "<b>", '"', "@bob"));
const aUrl = fc.constantFrom(
  "https://a.example/",
  "https://a.example/?b&c",
  "gemini://a.example/",
  "javascript:alert(1)",
);
const { phrases, blocks } = fc.letrec<{ phrase: unknown; phrases: MarkupElement[]; blocks: MarkupElement[] }>(
  (tie) => ({
    phrase: fc.oneof(
      { maxDepth: 3 },
      aText,
      fc.constant(element("br", {})),
      fc
        .tuple(fc.constantFrom("code", "em", "strong"), tie("phrases"))
        .map(([tag, inside]) => element(tag, {}, ...inside)),
      fc.tuple(aUrl, tie("phrases")).map(([href, inside]) => element("span", {}, ...safeElement("a", href, inside))),
    ),
    phrases: fc.array(tie("phrase"), { maxLength: 4 }) as fc.Arbitrary<MarkupElement[]>,
    blocks: fc.array(
      fc.oneof(
        { maxDepth: 3 },
        tie("phrases").map((inside) => element("p", {}, ...inside)),
        fc
          .tuple(fc.constantFrom("blockquote", "ul", "ol", "li", "pre"), tie("blocks"))
          .map(([tag, inside]) => element(tag, {}, ...inside)),
      ),
      { maxLength: 3 },
    ),
  }),
);

describe("the HTML of a text", () => {
  it("is read as a host wrote it", () => {
    fc.assert(
      fc.property(fc.oneof(phrases, blocks), (markup) => {
        // A `span` is not safe: what it contains stays.
        const html = markup.map(toHtml).join("");
        expect(normalized(rewritten(html))).toBe(normalized(html.replaceAll(/<\/?span>/g, "")));
      }),
      { numRuns: runs(800) },
    );
  });

  it("is read as texts are converted", () => {
    const texts = [
      "Hello *river* & <meadow>, see https://a.example/?b&c",
      "(#abcdefg) @<bob https://bob.example/twtxt.txt> `code`\nand **more**\n\nA paragraph",
      'See [the geese](https://a.example/?b&c "geese") `a < b` and ![A "heron"](https://a.example/heron.png)',
    ];
    for (const text of [...texts, ...HOSTILE_TEXTS]) {
      const html = textHtml(text, "twt");
      expect(normalized(rewritten(html)), text).toBe(normalized(html));
    }
  });

  it.each([
    ["other elements", "<p>a<div>b</div><script>c</script><img src=x onerror=d></p>", "<p>abc</p>"],
    ["attributes", '<p onclick="a" style="b">c</p>', "<p>c</p>"],
    ["links to scripts", '<p><a href="javascript:a">b</a></p>', "<p>b</p>"],
    ["links without rel", '<a href="https://a.example/">b</a>', `<a href="https://a.example/" rel="${REL}">b</a>`],
    ["elements without an end", "<p>a<em>b", "<p>a<em>b</em></p>"],
    ["ends without a start", "a</p></em>b", "ab"],
    ["tags that overlap", "<p><em>a</p>b</em>c", "<p><em>ab</em>c</p>"],
    ["other references", "<p>&copy; &#0; &amp;</p>", "<p>&amp;copy; &amp;#0; &amp;amp;</p>"],
    ["a tag that is cut off", "<p>a</p><p", "<p>a</p>&lt;p"],
    ["elements with a hyphen", "<p><my-card title=b>a</my-card></p>", "<p>a</p>"],
    ["comments", "<p>a<!-- b --></p>", "<p>a&lt;!-- b --&gt;</p>"],
  ])("is safe to show with %s", (_, html, expected) => {
    expect(rewritten(html)).toBe(expected);
  });

  it("is safe to show for tags and texts in any order", () => {
    const aPart = fc.oneof(
      fc.string({ maxLength: 5 }),
      fc.constantFrom(
        "<p>",
        "</p>",
        "<em>",
        "</em>",
        "<a href='x'>",
        "</a>",
        "<script>",
        "<!--",
        "<P>",
        "<br/>",
        "&lt;",
      ),
      fc.string({ maxLength: 9 }).map((value) => `<a href="${value}" rel="${REL}">`),
    );
    const allowed =
      /^<(\/?(p|code|pre|em|strong|blockquote|ul|ol|li)|br|\/a|a href="(https?|gemini|gopher):\/\/[^"<>]*" rel="nofollow ugc noopener"( dir="auto")?)>$/;
    fc.assert(
      fc.property(fc.array(aPart, { maxLength: 14 }), (parts) => {
        for (const [tag] of rewritten(parts.join("")).matchAll(/<[^>]*>?/g)) expect(tag).toMatch(allowed);
      }),
      { numRuns: runs(1500) },
    );
  });

  it.each([
    ["a name", `<${"a".repeat(300_000)}`],
    ["an attribute", `<a href="${"b ".repeat(300_000)}`],
    ["ends of tags", "<".repeat(300_000)],
    ["references", `<p>${"&#1".repeat(300_000)}`],
    ["elements in an element that is left out", `<x>${"<br>".repeat(300_000)}`],
    ["texts in an element", `<p>${"<".repeat(300_000)}`],
  ])("takes time in proportion to its length: %s without an end", (_, html) => {
    const before = process.cpuUsage();
    readHtml(html);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(5);
  });

  it("is bounded: 100,000 elements in each other", () => {
    const html = rewritten("<em>".repeat(100_000));
    expect(html.length).toBeLessThan(1000);
  });
});
