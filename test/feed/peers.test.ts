import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adjustForPeers } from "../../plugin/feed/peers.js";
import { cleanText } from "../../plugin/feed/twt.js";
import { runs } from "../helpers/runs.js";

const Z = "\u200b";

describe("texts that other clients misread", () => {
  it.each([
    ["an unclosed parenthesis", "(open text", `${Z}(open text`],
    [
      "an unclosed parenthesis after a mention",
      "@<bob https://b.example/t.txt> (x",
      `@<bob https://b.example/t.txt> ${Z}(x`,
    ],
    ["an unclosed parenthesis directly after a name", "@bob(x", `@bob ${Z}(x`],
    ["a smiley", "(: hi", `${Z}(: hi`],
    ["a bracket at the end", "hi [", `hi [${Z}`],
    ["a handle of another network at the end", "hi @user@host", `hi @user@host ${Z}`],
    ["a URL with a backslash at the end", "https://x.example\\", `https://x.example\\${Z}`],
    ["an unclosed link", "[t](foo", `[t]${Z}(foo`],
    ["a link with an unclosed title", '[t](https://x.example "t', `[t]${Z}(https://x.example "t`],
    [
      "a link with a parenthesis in the URL and an unclosed title",
      "[t](https://e.example/( 's",
      `[t]${Z}(https://e.example/( 's`,
    ],
    ["a link with an unclosed <URL", "[t](<https://e.example/(", `[t]${Z}(<https://e.example/(`],
    [
      "a parenthesis at the start with a mention",
      "( @<bob https://b.example/t.txt>) hi",
      `${Z}( @<bob https://b.example/t.txt>) hi`,
    ],
    [
      "words and a mention in a parenthesis after a mention",
      "@<a https://a.example/t> (cc @<bob https://b.example/t>)",
      `@<a https://a.example/t> ${Z}(cc @<bob https://b.example/t>)`,
    ],
    ["a link's title", '[a](https://x.example "t") b', "[a](https://x.example) b"],
    ["an escaped backtick before code", "\\``a` b", "\\\u02cb`a` b"],
    ["a single backtick", "a `open", "a \u02cbopen"],
  ])("%s", (_name, text, adjusted) => {
    expect(adjustForPeers(text)).toBe(adjusted);
  });

  it.each([
    "(closed) text",
    "(#abcdefg) reply",
    "text (open",
    "hello ( @<bob https://b.example/t.txt>)",
    "(re: this) ( @<bob https://b.example/t.txt>)",
    "(#abcdefg) ( @<bob https://b.example/t.txt>)",
    "[t](https://e.example/( s)",
    "hi @user@host there",
    "`code` and `[`",
    "```js\u2028let a = [\u2028```",
    "[a](https://x.example/a_(b))",
    "[t](https://x.example",
    "![alt](https://x.example/i.png)",
    "https://x.example/",
    "a [b] c",
  ])("%s is not changed", (text) => {
    expect(adjustForPeers(text)).toBe(text);
  });

  it("adjusts any text in one pass, and in linear time", () => {
    const pieces = fc.constantFrom(
      "(",
      ")",
      "[",
      "]",
      "<",
      ">",
      "@",
      "#",
      "`",
      "\\",
      ":",
      "/",
      " ",
      "a",
      "\u2028",
      "https://x.example/a",
      "@<bob https://b.example/t>",
      "(#abcdefg)",
      "@user@host",
      "![a](",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (text) => {
        const once = adjustForPeers(cleanText(text.join("")));
        expect(adjustForPeers(once)).toBe(once);
        expect(cleanText(once)).toBe(once);
      }),
      { numRuns: runs(1000) },
    );
    for (const piece of ["(", "[", "@a", "@a@b", "`", "[a](", "://\\", "[t](foo "])
      adjustForPeers(piece.repeat(20_000 / piece.length));
  });
});
