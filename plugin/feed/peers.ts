// plugin/feed/peers.ts: workarounds for texts that a widely used reader misreads.
//
// The reader is yarnd with its parser lextwt in two versions of early 2022. In four cases it swallows the following twts,
// in one it misses a mention, and in two it changes the text and computes another hash.
import { literalBackticks } from "./mention.js";

/** Invisible, not removed by trimming, and never written at the start of a text. */
const ZERO_WIDTH_SPACE = "\u200b";

/** Code as lextwt reads it; brackets inside are ignored. */
const CODE = /```(?:[\s\S][^`]*(?:`(?:``?)?)?)?|``|`[^`]*`?/g;

/** White space and mentions, which may precede the opening parenthesis of a subject. */
const LEAD = /^(?:[^\S\u2028]|@<[^<>]*>|@(?!<)(?:[^\s@]|\u2028)+)*$/;
const LEADING = /^(?:[^\S\u2028]|@<[^<>]*>|@(?!<)(?:[^\s@(]|\u2028)+)*/;
const MENTION_IN_PARENTHESES = /^\((?!#)[^)>]*@<[^<>)]*>/;
const HANDLE = /@<?[^ @#!`<>()[\]'"\u2028]+@[^ @#!`<>()[\]'"\u2028]/;
const LINK_URL = String.raw`[A-Za-z0-9.+-]+:\/\/[^ )>\u2028]*`;
const HALF_LINK = new RegExp(
  [
    String.raw`\[[\s\S]?[^[\]()]*\]\((?!\))`, // a label, and after it
    String.raw`(?:[[(]|!\[|(?!${LINK_URL}$)[^()[\]]*$`, // what is not a URL and is not closed,
    String.raw`|<${LINK_URL}[^()[\]]*$`, // a URL in angle brackets that is not closed,
    String.raw`|${LINK_URL} [^\S\u2028]*(?:"[^"()[\]]*|'[^'()[\]]*)$)`, // or a URL whose title is not closed
  ].join(""),
  "g",
);
const LINK_TITLE = /(?<!!)(\[[^[\]()]*\]\([A-Za-z0-9.+-]+:\/\/[^ )>\u2028]*) +(?:"[^"()[\]]*"|'[^'()[\]]*')?\)/g;

/** Looks like a backtick but does not start code. */
const GRAVE = "\u02cb";

/**
 * Adjusts a text so that these readers read it unchanged. The changes are invisible or nearly so; the function is
 * idempotent.
 *
 * @param text - the result of {@link cleanText}
 */
export function adjustForPeers(text: string): string {
  let adjusted = withoutLiteralBackticks(text).replace(LINK_TITLE, "$1)");
  for (let gaps = findGaps(adjusted); gaps.length > 0; gaps = findGaps(adjusted)) adjusted = fillGaps(adjusted, gaps);
  return adjusted;
}

/** A position where an invisible character keeps lextwt from reading on into the next line. */
interface Gap {
  at: number;
  filling: string;
}

/** A gap in each unclosed link, or else the one at the start or end of the text. */
function findGaps(text: string): Gap[] {
  const visible = text.includes("`") ? text.replace(CODE, (code) => "`".repeat(code.length)) : text;
  const links = halfLinks(visible);
  if (links.length > 0) return links.map((at) => ({ at, filling: ZERO_WIDTH_SPACE }));

  const parenthesis = openParenthesis(visible) ?? parenthesisOfMention(visible);
  if (parenthesis !== null) {
    const isApart = parenthesis === 0 || /\s/.test(visible.charAt(parenthesis - 1));
    return [{ at: parenthesis, filling: isApart ? ZERO_WIDTH_SPACE : ` ${ZERO_WIDTH_SPACE}` }];
  }
  const lastRun = visible.slice(visible.lastIndexOf(" ") + 1);
  if (visible.endsWith("[") || (lastRun.includes("://") && lastRun.endsWith("\\"))) {
    return [{ at: text.length, filling: ZERO_WIDTH_SPACE }];
  }
  const lastWord = visible.slice(1 + Math.max(...[" ", ")", ">"].map((mark) => visible.lastIndexOf(mark))));
  return HANDLE.test(lastWord) ? [{ at: text.length, filling: ` ${ZERO_WIDTH_SPACE}` }] : [];
}

/** The positions after the labels of links that are not closed. */
function halfLinks(visible: string): number[] {
  if (!visible.includes("](")) return [];
  return [...visible.matchAll(HALF_LINK)].map((link) => link.index + link[0].indexOf("](") + 1);
}

function fillGaps(text: string, gaps: readonly Gap[]): string {
  const pieces = gaps.map(({ at, filling }, i) => text.slice(gaps[i - 1]?.at ?? 0, at) + filling);
  return pieces.join("") + text.slice(gaps.at(-1)?.at ?? 0);
}

/** The position of a parenthesis that opens the text and is never closed. */
function openParenthesis(visible: string): number | null {
  const closed = Math.max(visible.lastIndexOf(")"), visible.lastIndexOf(">"));
  const at = visible.startsWith("(>", closed - 1) ? closed - 1 : visible.indexOf("(", closed + 1);
  return at >= 0 && visible[at + 1] !== "#" && LEAD.test(visible.slice(0, at)) ? at : null;
}

/**
 * The position of a parenthesis that opens the text and contains a mention: lextwt takes it for a subject and misses the
 * mention.
 */
function parenthesisOfMention(visible: string): number | null {
  const at = LEADING.exec(visible)?.[0].length ?? 0;
  return MENTION_IN_PARENTHESES.test(visible.slice(at)) ? at : null;
}

function withoutLiteralBackticks(text: string): string {
  const literal = new Set(literalBackticks(text));
  return literal.size === 0 ? text : text.replace(/`/g, (backtick, at) => (literal.has(at) ? GRAVE : backtick));
}
