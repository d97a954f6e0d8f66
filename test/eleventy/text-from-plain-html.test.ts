import { readdirSync } from "node:fs";
import fc from "fast-check";
import matter from "gray-matter";
import markdownIt from "markdown-it";
import { describe, expect, it } from "vitest";
import { textFromAnyHtml } from "../../plugin/text/text-from-html.js";
import { type PageOfHtml, textFromPlainHtml } from "../../plugin/text/text-from-plain-html.js";
import { runs } from "../helpers/runs.js";

const URL_OF_PAGE = "https://alice.example/notes/a/";
const BOB = "https://bob.example/twtxt.txt";

const page: PageOfHtml = {
  resolve: (link) => (URL.canParse(link) || !URL.canParse(link, URL_OF_PAGE) ? link : new URL(link, URL_OF_PAGE).href),
  mention: (label, url) => (url.includes("(") ? null : `@<${label.replace(/^@|\s/g, "")} ${url}>`),
};

/** Whether HTML is plain. If so, both functions must return the same text. */
function isPlain(html: string): boolean {
  const text = textFromPlainHtml(html, page);
  if (text !== null) expect(text, html).toBe(textFromAnyHtml(html, page));
  return text !== null;
}

/** The fraction of random values that are plain HTML. */
function shareOfPlain(html: fc.Arbitrary<string>, count: number): number {
  const numRuns = runs(count);
  let plain = 0;
  fc.assert(
    fc.property(html, (each) => {
      if (isPlain(each)) plain += 1;
    }),
    { numRuns },
  );
  return plain / numRuns;
}

function anyOf(...values: readonly string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...values);
}

function often(weight: number, arbitrary: fc.Arbitrary<string>) {
  return { weight, arbitrary };
}

function join(...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc.tuple(...parts).map((strings) => strings.join(""));
}

function some(part: fc.Arbitrary<string>, maxLength: number, minLength = 0, separator = ""): fc.Arbitrary<string> {
  return fc.array(part, { minLength, maxLength }).map((parts) => parts.join(separator));
}

function element(tag: string, inner: string, attributes = ""): string {
  return `<${tag}${attributes}>${inner}</${tag}>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

const aWord = anyOf(..."river paper Straße 東京 ключ naïve 42 1. x https://x.example/a_b".split(" "));
const aMark = anyOf(
  ...". , ! ? : – … ' \" ( ) [ ] * _ ~ # - + = | \\ ` @ @< & < > 🍂 \u{1d400}".split(" "),
  ...["\u00a0", "\u200b", "\u2028", "\ufeff", "\u00ad", "\u0085", "\u0301", "\ud800", " – "],
);
const aSpace = anyOf(" ", " ", " ", " ", "", "\n", "  ");
const someWords = some(aWord, 5, 1, " ");
const aText = some(fc.oneof(often(6, join(aWord, aSpace)), join(aMark, aSpace)), 6, 1);
const aUrl = anyOf(
  ..."https://x.example/ http://x.example/a?b=1&c=2 /about/ ../b#c #d mailto:a@b.example www.x.example //y.example".split(
    " ",
  ),
  ..."https://x.example/a_b_c/(d) https://x.example/*e*~f~ https://x.example/%20g,h+i=j".split(" "),
  ...["a b.png", ""],
);

/** Markdown that is typical of notes. */
const someProse = some(
  join(
    fc.oneof(
      often(6, someWords),
      aText,
      fc.tuple(anyOf("*", "**", "_", "***", "`", "~~", "``"), aText).map(([mark, text]) => mark + text.trim() + mark),
      fc.tuple(anyOf("*", "**"), aWord).map(([mark, word]) => mark + word + mark),
      fc.tuple(aText, aUrl).map(([label, url]) => `[${label}](${url} "Title")`),
      fc.tuple(aWord, aUrl).map(([label, url]) => `[**${label}**, \`${label}\`](${url})`),
      fc.tuple(aText, aUrl).map(([label, url]) => `![${label}](${url})`),
      aWord.map((nick) => element("a", `@${nick}`, ` href="${BOB}" class="u-mention"`)),
      anyOf(",", ".", "!", "<br>", "  \nnew", "\\\nnew", "<kbd>x</kbd>", "<span>y</span>", "<!-- z -->", "&nbsp;"),
    ),
    aSpace,
  ),
  6,
  1,
);
const aBlock = fc.oneof(
  often(20, someProse),
  join(anyOf("# ", "### ", "> ", "1. ", "> - ", "    "), someProse),
  fc
    .tuple(anyOf("- ", "3. ", "> "), fc.array(someProse, { minLength: 1, maxLength: 3 }))
    .map(([mark, items]) => items.map((item) => mark + item.replaceAll("\n", " ")).join("\n")),
  anyOf("---", "```js\nx\n```", "| a |\n|---|\n| b |", "<div>x</div>", "- [ ] do", "- a\n  - b"),
);
const aNote = some(aBlock, 3, 1, "\n\n");

/** HTML that is plain, or nearly so. */
const someAttributes = some(
  fc.oneof(
    often(
      2,
      aUrl.map((url) => ` href="${escaped(url)}"`),
    ),
    anyOf(' class="x"', ' class="h-card u-mention"', ' title="a href="', ' id="y"', " hidden", ' data-mdast="ignore"'),
    anyOf(' start="3"', " href=z", " class='u-mention'", ' href="&lt;"', ' href="/?a=b&c=d"'),
  ),
  2,
);
const anImage = fc
  .tuple(aUrl, anyOf("", "A leaf, on a stone.", " a  b ", "1 * 2 [x]", "x_y"), anyOf("", " /", ' width="1"'))
  .map(([url, alt, rest]) => `<img src="${escaped(url)}" alt="${alt}"${rest}>`);
const aTag = fc.oneof(
  often(8, anyOf("a", "em", "strong", "code", "b", "i")),
  anyOf(..."span p h2 li ul blockquote pre table div del u kbd script template".split(" ")),
);
const { phrases } = fc.letrec<{ phrase: string; phrases: string }>((tie) => ({
  phrase: fc.oneof(
    { maxDepth: 3, depthIdentifier: "html" },
    often(
      4,
      someWords.map((words) => ` ${words} `),
    ),
    often(
      3,
      fc.tuple(anyOf("em", "strong", "code"), aWord).map(([tag, word]) => element(tag, word)),
    ),
    often(
      2,
      fc.tuple(aUrl, aWord).map(([url, word]) => element("a", word, ` href="${url}"`)),
    ),
    aText.map(escaped),
    fc.tuple(aTag, tie("phrases"), someAttributes).map((parts) => element(...parts)),
    anImage,
    anyOf(" ", "\n", "<br>", "<br />", "<!-- x -->"),
  ),
  phrases: some(tie("phrase"), 4),
}));
const aBody = some(
  fc
    .tuple(anyOf(..."p p p p p h2 blockquote section".split(" ")), phrases, anyOf("", "", ' class="twtxt-part"'))
    .map(([tag, inner, attributes]) => `${element(tag, inner, attributes)}\n`),
  3,
  1,
);

const aSoup = some(
  fc.oneof(
    join(anyOf("<", "</"), aTag, someAttributes, anyOf(">")),
    aText,
    anyOf("&amp;", "&#39;", "&nbsp;", "&#x41;", "&copy", "\0", "\v", "\f", "\r\n", "\t", "<p>", "</p>"),
  ),
  12,
).map((inner) => element("p", inner));

describe("plain HTML has the same text with and without the parser", () => {
  it.each([{}, { html: true }, { html: true, linkify: true, typographer: true, breaks: true, xhtmlOut: true }])(
    "in notes rendered by markdown-it with %o",
    (options) => {
      const markdown = markdownIt(options);
      expect(
        shareOfPlain(
          aNote.map((note) => markdown.render(note)),
          250,
        ),
      ).toBeGreaterThan(0.15);
    },
  );

  it("in HTML from any template language", () => {
    expect(shareOfPlain(aBody, 400)).toBeGreaterThan(0.1);
  });

  it("with tags and text in any order", () => {
    expect(shareOfPlain(aSoup, 400)).toBeGreaterThan(0.02);
  });

  it("in the posts of the example site, which are mostly plain", () => {
    const markdown = markdownIt({ html: true });
    const files = readdirSync("site-example/posts").filter((file) => file.endsWith(".md"));
    const bodies = files.map((file) => markdown.render(matter.read(`site-example/posts/${file}`).content));
    expect(bodies.filter(isPlain).length).toBeGreaterThan(files.length / 2);
  });
});

describe("a note is plain", () => {
  it.each([
    "One *two* **three** `four`\nfive.\n\nSix &amp; seven<br>eight",
    "A [link](/about/), <https://x.example/> and ![a picture](/a.png)",
    `Hello <a href="${BOB}" class="u-mention" dir="auto">@bob</a>!`,
  ])("%j", (note) => {
    expect(isPlain(markdownIt({ html: true }).render(note))).toBe(true);
  });
});
