// plugin/site/text-markup.ts: the text of a mention in a page, folded if it is long.
import { element, isElement, type Markup } from "./html.js";
import { boundedMarks } from "./safe-markup.js";

/** The block elements of a text. Nothing outside them is shown. */
const BLOCKS = new Set(["p", "pre", "blockquote", "ul", "ol"]);

/**
 * A text as it stands below the line with its author.
 *
 * @param markup - safe elements, see `safeElement`
 * @param more - the control that opens the rest of a long text
 */
export function textMarkup(markup: readonly Markup[], more: string): readonly Markup[] {
  // Each block has the direction of its text. The direction of a list would not see items with one of their own.
  const blocks = markup.flatMap((each) =>
    isElement(each) && BLOCKS.has(each.tag) ? [element(each.tag, { dir: "auto" }, ...each.children)] : [],
  );
  if (blocks.length === 0) return [];
  const [start, rest] = foldText(blocks);
  const folded =
    rest.length > 0 ? [element("details", { class: "twtxt-more" }, element("summary", {}, more), ...rest)] : [];
  return [element("div", { class: "p-content" }, ...start, ...folded), "\n"];
}

/** A text of an earlier version: without the hash that it replies to, and with `@bob` for `@<bob https://bob.example/twtxt.txt>`. */
export function plainTextMarkup(text: string): Markup[] {
  const shown = text
    .replace(/@<(?:([^\s<>]+) +)?https?:\/\/([^\s<>/]+)[^\s<>]*>/gi, (_, nick, host) => `@${nick ?? host}`)
    .replace(/^((?:@\S+ +)*)\(#[^()]*\) */, "$1");
  if (shown === "") return [];
  const lines = boundedMarks(shown).split("\n");
  return [element("p", {}, ...lines.flatMap((line, index) => (index > 0 ? [element("br", {}), line] : [line])))];
}

/** What is shown of a longer text. */
const LINES = 20;
const CHARACTERS = 500;
/** A rest that is shorter than this is shown. */
const SLACK = 150;

const LINE_TAGS = new Set(["p", "li", "pre"]);

/**
 * Divides a text after 500 characters, at a word, or 20 lines.
 *
 * @param blocks - paragraphs, lists, quotations and code
 * @returns an empty rest for a short text
 */
export function foldText(blocks: readonly Markup[]): [start: readonly Markup[], rest: readonly Markup[]] {
  const fold = new Fold();
  const [start, rest] = fold.divide(blocks);
  return countCharacters(rest) < SLACK && !fold.isOverLines ? [blocks, []] : [start, rest];
}

class Fold {
  #characters = CHARACTERS;
  #lines = LINES;

  get isOverLines(): boolean {
    return this.#lines <= 0;
  }

  divide(markup: readonly Markup[]): [start: Markup[], rest: Markup[]] {
    const start: Markup[] = [];
    const rest: Markup[] = [];
    for (const each of markup) {
      const isOver = this.#characters <= 0 || this.#lines <= 0;
      // The line break at the fold is neither in the start nor in the rest.
      if (isElement(each) && each.tag === "br" && rest.length === 0 && (isOver || this.#lines === 1)) {
        this.#lines -= 1;
        continue;
      }
      const [shown, folded] = isOver ? [[], [each]] : this.#divideOne(each);
      start.push(...shown);
      rest.push(...folded);
    }
    return [start, rest];
  }

  #divideOne(each: Markup): [start: Markup[], rest: Markup[]] {
    if (typeof each === "string") return this.#divideText(each);
    if (!isElement(each)) return [[each], []];
    const { tag, attributes } = each;
    const children = [...each.children];
    const [start, rest] = this.divide(children);
    if (LINE_TAGS.has(tag) || tag === "br") this.#lines -= 1;
    if (rest.length === 0) return [[element(tag, attributes, ...start)], []];
    const number = children.length - rest.length + 1;
    const continued = tag === "ol" ? { ...attributes, start: String(number) } : attributes;
    return [start.length > 0 ? [element(tag, attributes, ...start)] : [], [element(tag, continued, ...rest)]];
  }

  #divideText(text: string): [start: Markup[], rest: Markup[]] {
    const end = this.#endOfStart(text);
    const [start, rest] = [text.slice(0, end), text.slice(end)];
    this.#characters -= text.length;
    this.#lines -= start.split("\n").length - 1;
    return [start === "" ? [] : [start], rest === "" ? [] : [rest]];
  }

  /** Where the shown part of a text ends: at a word if there is one, and between two characters. */
  #endOfStart(text: string): number {
    const lineEnds = [...text.matchAll(/\n/g)].map(({ index }) => index);
    const atLine = lineEnds[this.#lines - 1] ?? text.length;
    if (text.length <= this.#characters) return atLine;
    const head = text.slice(0, this.#characters);
    const space = head.search(/\s\S*$/);
    const atWord = space > 0 ? space : head.length - Number(/[\ud800-\udbff]$/.test(head));
    return Math.min(atLine, atWord);
  }
}

function countCharacters(markup: readonly Markup[]): number {
  return markup.reduce(
    (sum, each) =>
      sum + (typeof each === "string" ? each.length : isElement(each) ? countCharacters([...each.children]) : 0),
    0,
  );
}
