import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { element, isElement, type Markup, toHtml } from "../../plugin/site/html.js";
import { foldText } from "../../plugin/site/text-markup.js";

const p = (...children: Markup[]) => element("p", {}, ...children);
const br = element("br", {});
const htmlOf = (markup: readonly Markup[]) => markup.map(toHtml).join("");
const fold = (...blocks: Markup[]) => foldText(blocks).map(htmlOf);
const textOf = (markup: readonly Markup[]): string =>
  markup.map((each) => (isElement(each) ? textOf([...each.children]) : String(each))).join("");
const words = (count: number) => Array.from({ length: count }, (_, n) => `word${n}`).join(" ");

describe("a long text", () => {
  it("is folded at a word after 500 characters, inside of emphasis and links too", () => {
    const [start = "", rest = ""] = fold(p("See ", element("a", { href: "https://a.example/" }, words(200)), "."));
    expect(start).toMatch(/^<p>See <a href="https:\/\/a\.example\/">word0 .* word\d+<\/a><\/p>$/);
    expect(start.length).toBeLessThan(560);
    expect(rest).toMatch(/^<p><a href="https:\/\/a\.example\/"> word\d+ .* word199<\/a>\.<\/p>$/);
  });

  it("is folded after 20 lines, and the break at the fold is in neither part", () => {
    const lines = Array.from({ length: 30 }, (_, n) => [...(n > 0 ? [br] : []), `line ${n}`]).flat();
    const [start = "", rest = ""] = fold(p(...lines));
    expect(start.split("<br>")).toHaveLength(20);
    expect(rest).toMatch(/^<p>line 20<br>.*line 29<\/p>$/);
  });

  it("continues the numbers of a list", () => {
    const items = Array.from({ length: 30 }, (_, n) => element("li", {}, `item ${n + 1}`));
    expect(fold(element("ol", {}, ...items))[1]).toMatch(/^<ol start="21"><li>item 21</);
    const long = [element("li", {}, "one"), element("li", {}, words(300)), element("li", {}, "three")];
    expect(fold(element("ol", {}, ...long))[1]).toMatch(/^<ol start="2"><li> word/);
  });

  it("is folded between lines of code", () => {
    const code = Array.from({ length: 40 }, (_, n) => `line(${n});`).join("\n");
    const [start = "", rest = ""] = fold(element("pre", {}, element("code", {}, code)));
    expect(start.split("\n")).toHaveLength(20);
    expect(rest).toContain("line(20);\n");
  });

  it("is not folded for a short rest", () => {
    expect(fold(p(words(80)))[1]).toBe("");
    expect(fold(p(words(300)))[1]).not.toBe("");
  });

  it("keeps every character of any text", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 700 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), (texts) => {
        const blocks = texts.map((each) => p(element("em", {}, each), "x"));
        const [start, rest] = foldText(blocks);
        expect(textOf(start) + textOf(rest)).toBe(textOf(blocks));
        expect(textOf(start).isWellFormed()).toBe(textOf(blocks).isWellFormed());
      }),
      { numRuns: 200 },
    );
  });
});
