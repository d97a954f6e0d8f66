// test/site/text-html.test.ts: texts of twts and pages as safe HTML.
import fc from "fast-check";
import { fromHtml } from "hast-util-from-html";
import { visit } from "unist-util-visit";
import { describe, expect, test } from "vitest";
import { textHtml } from "../../plugin/site/text-html.js";
import { HOSTILE_TEXTS } from "../helpers/hostile-texts.js";

const link = (href: string, text = href) => `<a href="${href}" rel="nofollow ugc noopener">${text}</a>`;

describe("a twt", () => {
  test.each([
    ["a URL is a link", "see https://bob.example/a_b_c.", `<p>see ${link("https://bob.example/a_b_c")}.</p>`],
    [
      "a mention is a link to the feed with its nick",
      "@<bob https://bob.example/t.txt>, hi",
      `<p>${link("https://bob.example/t.txt", "@bob")}, hi</p>`,
    ],
    [
      "a mention without a nick is a link with its host",
      "@<https://bob.example/t.txt>",
      `<p>${link("https://bob.example/t.txt", "@bob.example")}</p>`,
    ],
    ["a mention of a feed that cannot be read is only its nick", "hi @<bob ftp://bob.example/t.txt>", "<p>hi @bob</p>"],
    [
      "a mention of a feed on gemini or gopher is a link",
      "hi @<bob gemini://bob.example/t.txt> and @<carol gopher://carol.example/0/t.txt>",
      `<p>hi ${link("gemini://bob.example/t.txt", "@bob")} and ${link("gopher://carol.example/0/t.txt", "@carol")}</p>`,
    ],
    [
      "the hash of a reply is left out",
      "@<bob https://b.example/t> (#abcdefg) yes",
      `<p>${link("https://b.example/t", "@bob")} yes</p>`,
    ],
    [
      "an image is a link with its description",
      "![Ripe *quinces* in a <basket>](https://b.example/x/20261122-224837-1.jpg)",
      `<p>${link("https://b.example/x/20261122-224837-1.jpg", "Ripe quinces in a &#x3C;basket>")}</p>`,
    ],
    [
      "an image without a description is a link with the name of its file",
      "![](https://b.example/x/my%20cat.jpg)",
      `<p>${link("https://b.example/x/my%20cat.jpg", "my cat.jpg")}</p>`,
    ],
    [
      "an image in a link keeps its description",
      "[![Ripe quinces](https://b.example/q.jpg)](https://b.example/)",
      `<p>${link("https://b.example/", "Ripe quinces")}</p>`,
    ],
    [
      "a link keeps its label",
      "[my *page*](https://b.example/)",
      `<p>${link("https://b.example/", "my <em>page</em>")}</p>`,
    ],
    [
      "line breaks stay, and an empty line starts a paragraph",
      "one\ntwo\n\nthree",
      "<p>one<br>\ntwo</p>\n<p>three</p>",
    ],
    ["code is code", "`a <b> *c*`", "<p><code>a &#x3C;b> *c*</code></p>"],
    ["fenced code keeps its lines", "```js\na\n  b\n```", "<p><code>a</code><br><code>  b</code></p>"],
    ["emphasis within a line is emphasis", "*a* __b__", "<p><em>a</em> <strong>b</strong></p>"],
    [
      "asterisks on two lines are text",
      "2 * 3\n4 * 5 *a\nb* **c\nd**",
      "<p>2 * 3<br>\n4 * 5 *a<br>\nb* **c<br>\nd**</p>",
    ],
    ["block syntax of Markdown is text", "# a\n- b\n> c\n1. d\n---", "<p># a<br>\n- b<br>\n> c<br>\n1. d<br>\n---</p>"],
    [
      "a mention in code is text",
      "`@<bob https://b.example/t>`",
      "<p><code>@&#x3C;bob https://b.example/t></code></p>",
    ],
    ["a mail address is not a link", "bob@b.example", "<p>bob@b.example</p>"],
    ["an empty text is empty", " \n", ""],
  ])("%s", (_, text, html) => {
    expect(textHtml(text, "twt")).toBe(html);
  });

  test("has at most four combining marks in a row", () => {
    expect(textHtml(`Z${"\u0301".repeat(50)}a`, "twt")).toBe(`<p>Z${"\u0301".repeat(4)}a</p>`);
    expect(textHtml(`Z${"&#x301;".repeat(50)}a`, "twt")).toBe(`<p>Z${"\u0301".repeat(4)}a</p>`);
  });

  test("has no control characters and changes of direction, also not from references and names of files", () => {
    expect(textHtml("a&#x202e;b&#x2066;c", "twt")).toBe("<p>abc</p>");
    const url = "https://bob.example/%E2%80%AEgnp.exe%1B";
    expect(textHtml(`![](${url})`, "twt")).toBe(`<p>${link(url, "gnp.exe")}</p>`);
  });
});

test("the text of a page has no Markdown, but its URLs are links", () => {
  expect(textHtml("2 *3* `4` [5](https://b.example)\nhttps://c.example", "page")).toBe(
    `<p>2 *3* \`4\` [5](${link("https://b.example")})<br>\n${link("https://c.example")}</p>`,
  );
});

/** Fails if an element or attribute is not in the allowlist. */
function expectSafe(html: string): void {
  visit(fromHtml(html, { fragment: true }), (node, _, parent) => {
    if (node.type === "root" || node.type === "text") return;
    if (node.type !== "element") throw new Error(`${node.type} in ${html}`);
    expect(["p", "a", "code", "em", "strong", "br"]).toContain(node.tagName);
    if (node.tagName !== "a") return expect(node.properties).toEqual({});
    expect(node.properties).toEqual({
      href: expect.stringMatching(/^https?:\/\//),
      rel: ["nofollow", "ugc", "noopener"],
    });
    expect(parent?.type === "element" && parent.tagName).not.toBe("a");
  });
}

test("there are at least 200 hostile texts", () => {
  expect(new Set(HOSTILE_TEXTS).size).toBeGreaterThanOrEqual(200);
});

describe.each(["twt", "page"] as const)("as a %s", (kind) => {
  test.each(HOSTILE_TEXTS)("%j has no element or attribute outside the list", (text) => {
    expectSafe(textHtml(text, kind));
  });

  test("any text of special characters has no element or attribute outside the list", () => {
    const part = fc.constantFrom(
      ..."<>[]()!@#`*_\\\"'&;: \n\t\u2028",
      "a",
      "https://b.example",
      "javascript:",
      "script",
      "\ue0000\ue001",
      "```",
    );
    fc.assert(fc.property(fc.array(part, { maxLength: 60 }), (parts) => expectSafe(textHtml(parts.join(""), kind))));
  });
});
