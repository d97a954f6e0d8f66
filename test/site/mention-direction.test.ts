import { describe, expect, it } from "vitest";
import { element, mentionLink, toHtml } from "../../plugin/site/html.js";
import { readHtml } from "../../plugin/site/read-html.js";
import { textHtml } from "../../plugin/site/text-html.js";

describe("the link of a mention", () => {
  it("has a direction of its own, so that a text from right to left reads right around it", () => {
    const text = "شكرا @<alice https://alice.example/twtxt.txt> على [الصور](https://alice.example/pictures/)";
    const html = toHtml(element("div", {}, ...readHtml(textHtml(text, "twt"))));

    expect(html).toMatch(/<a href="https:\/\/alice\.example\/twtxt\.txt" rel="[^"]*" dir="auto">@alice<\/a>/);
    expect(html).toMatch(/<a href="https:\/\/alice\.example\/pictures\/" rel="[^"]*">الصور<\/a>/);
    expect(mentionLink({ nick: "bob", url: "https://bob.example/twtxt.txt" })).toBe(
      '<a href="https://bob.example/twtxt.txt" class="u-mention" dir="auto">@bob</a>',
    );
  });
});
