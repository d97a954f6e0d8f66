import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readAnyHtml } from "../../plugin/site/read-html.js";
import { readPlainHtml } from "../../plugin/site/read-plain-html.js";
import { textHtml } from "../../plugin/site/text-html.js";
import { HOSTILE_TEXTS } from "../helpers/hostile-texts.js";
import { runs } from "../helpers/runs.js";

const REL = "nofollow ugc noopener";

/** Whether HTML is read without the parser. Fails if the result differs from the parser's. */
function isPlain(html: string): boolean {
  const markup = readPlainHtml(html);
  if (markup !== null) expect(markup, html).toEqual(readAnyHtml(html));
  return markup !== null;
}

const aText = fc.constantFrom(
  ..."river ab <b> &lt; & &#x26; &#x3C; &amp; &copy; &amp &#0; &#x22; \" ' > = \n \r \0 \t \u00a0 日本 \ud800".split(
    " ",
  ),
  " ",
  "\n",
  "\f",
);
const aUrl = fc.constantFrom(
  "https://a.example/",
  "https://a.example/?b&#x26;c",
  "javascript:alert(1)",
  "",
  "a b",
  "&copy;",
);
const aStart = fc.oneof(
  fc.constantFrom("<p>", "<code>", "<em>", "<strong>", "<a>", "<br>", "<br/>", "<P>", "<script>", "<div>", "<!--"),
  fc.constantFrom("<pre>", "<blockquote>", "<ul>", "<ol>", "<li>"),
  aUrl.map((url) => `<a href="${url}" rel="${REL}">`),
  aUrl.map((url) => `<p href="${url}" rel="${REL}">`),
);
const anEnd = fc.constantFrom(
  "</p>",
  "</code>",
  "</em>",
  "</strong>",
  "</a>",
  "</br>",
  "</script>",
  "</pre>",
  "</blockquote>",
  "</ul>",
  "</ol>",
  "</li>",
);
const aSoup = fc.array(fc.oneof(aText, aStart, anEnd), { maxLength: 14 }).map((parts) => parts.join(""));

const { phrases } = fc.letrec<{ phrases: string; phrase: string }>((tie) => ({
  phrase: fc.oneof(
    { maxDepth: 3 },
    aText,
    fc.constant("<br>"),
    fc
      .tuple(fc.constantFrom("code", "em", "strong"), tie("phrases"))
      .map(([tag, inner]) => `<${tag}>${inner}</${tag}>`),
    fc.tuple(aUrl, tie("phrases")).map(([url, inner]) => `<a href="${url}" rel="${REL}">${inner}</a>`),
  ),
  phrases: fc.array(tie("phrase"), { maxLength: 4 }).map((parts) => parts.join("")),
}));
const { blocks } = fc.letrec<{ blocks: string; block: string; items: string }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 3 },
    phrases.map((inner) => `<p>${inner}</p>`),
    phrases.map((inner) => `<pre><code>${inner}</code></pre>`),
    phrases.map((inner) => `<pre>${inner}</pre>`),
    tie("blocks").map((inner) => `<blockquote>${inner}</blockquote>`),
    tie("items").map((inner) => `<ul>${inner}</ul>`),
    tie("items").map((inner) => `<ol>${inner}</ol>`),
  ),
  items: fc
    .array(
      fc.oneof(
        phrases,
        tie("blocks"),
        fc.tuple(phrases, tie("blocks")).map((both) => both.join("")),
      ),
      { maxLength: 3 },
    )
    .map((all) => all.map((inner) => `<li>${inner}</li>`).join("")),
  blocks: fc.array(tie("block"), { maxLength: 3 }).map((all) => all.join("\n")),
}));
const paragraphs = fc
  .array(
    phrases.map((inner) => `<p>${inner}</p>`),
    { maxLength: 3 },
  )
  .map((all) => all.join("\n"));

describe("the HTML of a text is read with the parser's result", () => {
  it("for tags and texts in any order", () => {
    fc.assert(
      fc.property(aSoup, (html) => void isPlain(html)),
      { numRuns: runs(1500) },
    );
  });

  it.each([
    ["elements", paragraphs],
    ["lists, quotations and code", blocks],
  ])("for nested %s", (_, arbitrary) => {
    let plain = 0;
    fc.assert(
      fc.property(arbitrary, (html) => {
        if (isPlain(html)) plain += 1;
      }),
      { numRuns: runs(800) },
    );
    expect(plain).toBeGreaterThan(80);
  });

  it("for hostile texts", () => {
    for (const text of HOSTILE_TEXTS) {
      isPlain(text);
      isPlain(textHtml(text, "twt"));
    }
  });
});

describe("the HTML that a host writes is read without the parser", () => {
  it.each([
    "Hello *river* & <meadow>, see https://a.example/?b&c",
    "(#abcdefg) @<bob https://bob.example/twtxt.txt> `code`\nand **more**\n\nA paragraph",
  ])("%j", (text) => {
    expect(isPlain(textHtml(text, "twt"))).toBe(true);
  });
});
