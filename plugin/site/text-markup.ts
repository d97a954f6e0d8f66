// plugin/site/text-markup.ts: the text of a mention in a page, folded if it is long.
import { foldText } from "./fold.js";
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
