// plugin/site/fold.ts: divides a long text into what is shown and what is folded.
import { element, isElement, type Markup } from "./html.js";

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
    this.#lines -= countLineEnds(start);
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

function countLineEnds(text: string): number {
  return text.split("\n").length - 1;
}

function countCharacters(markup: readonly Markup[]): number {
  return markup.reduce(
    (sum, each) =>
      sum + (typeof each === "string" ? each.length : isElement(each) ? countCharacters([...each.children]) : 0),
    0,
  );
}
