import { describe, expect, it } from "vitest";
import { findAuthorPage, findTwtPage } from "../../plugin/feed/author-pages.js";

const FEED = "https://bob.example/twtxt.txt";

describe("the page of a feed's author", () => {
  it.each([
    [["My blog https://bob.example/about/"], "https://bob.example/about/"],
    [["https://bob.example"], "https://bob.example/"],
    [["with www https://www.bob.example/"], "https://www.bob.example/"],
    [["Mastodon https://social.example/@bob", "Blog\thttps://bob.example/"], "https://bob.example/"],
    [["none"], null],
    [["another host https://alice.example/"], null],
    [["another port https://bob.example:8443/"], null],
    [["a host like it https://bob.example.mallory.example/"], null],
    [["credentials https://bob:secret@bob.example/"], null],
    [["script javascript:alert(1)"], null],
    [["not the web gemini://bob.example/"], null],
    [["its feed https://bob.example/twtxt.txt"], null],
    [[`long https://bob.example/${"a".repeat(3000)}`], null],
  ])("%j is %s", (link, page) => {
    expect(findAuthorPage({ link }, FEED)).toBe(page);
  });

  it("is on the web, for a feed over gemini", () => {
    const header = { link: ["Blog https://bob.example/"] };
    expect(findAuthorPage(header, "gemini://BOB.example/twtxt.txt")).toBe("https://bob.example/");
  });

  it("is unknown for a feed without a link", () => {
    expect(findAuthorPage({}, FEED)).toBeNull();
  });
});

describe("the page of a twt", () => {
  it.each([
    ["Hens: https://bob.example/hens/", "https://bob.example/hens/"],
    ["(#abcdefg) Hens: A summary\u2028https://bob.example/hens/", "https://bob.example/hens/"],
    [
      "Hens: https://bob.example/hens/ @<alice https://alice.example/twtxt.txt> @<https://carol.example/tw.txt>",
      "https://bob.example/hens/",
    ],
    ["Hens https://alice.example/hens/", null],
    ["See https://bob.example/", null],
    ["See https://bob.example/hens/.", null],
    ["My feed is https://bob.example/twtxt.txt", null],
    ["@<bob https://bob.example/twtxt.txt>", null],
    ["https://bob.example/hens/ is new", null],
    ["![A hen](https://bob.example/hen.png)", null],
    ["a > b >", null],
    ["", null],
  ])("%j is %s", (text, page) => {
    expect(findTwtPage(text, FEED)).toBe(page);
  });
});
