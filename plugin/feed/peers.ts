// plugin/feed/peers.ts: texts that a reader in use loses or misreads, written so that it does not.
//
// The reader is yarnd with its parser lextwt in two versions of early 2022. In the first four cases it swallows the
// twts that follow; in the last two it changes the text, and so computes another hash.
import { literalBackticks } from "./mention.js";

/** Invisible, kept by those who trim, and never at the start of what we write. */
const ZERO_WIDTH_SPACE = "\u200b";

/** That parser's idea of code; brackets inside do not count. */
const CODE = /```(?:[\s\S][^`]*(?:`(?:``?)?)?)?|``|`[^`]*`?/g;

/** What may stand before an opening parenthesis for it to count as the first: white space and mentions. */
const LEAD = /^(?:[^\S\u2028]|@<[^<>]*>|@(?!<)(?:[^\s@]|\u2028)+)*$/;
const HANDLE = /@<?[^ @#!`<>()[\]'"\u2028]+@[^ @#!`<>()[\]'"\u2028]/;
const HALF_LINK = /\[[\s\S]?[^[\]()]*\]\((?!\))(?:[[(]|!\[|(?![A-Za-z0-9.+-]+:\/\/[^ )>\u2028]*$)[^()[\]]*$)/;
const LINK_TITLE = /(?<!!)(\[[^[\]()]*\]\([A-Za-z0-9.+-]+:\/\/[^ )>\u2028]*) +(?:"[^"()[\]]*"|'[^'()[\]]*')?\)/g;

/** Looks like a backtick and opens no code. */
const GRAVE = "\u02cb";

/**
 * A text that peers read as it stands. What is mended is invisible, or nearly so; a second pass changes nothing.
 *
 * @param text - as {@link cleanText} gives it
 */
export function mendForPeers(text: string): string {
  let mended = withoutLiteralBackticks(text).replace(LINK_TITLE, "$1)");
  for (let gap = gapIn(mended); gap !== null; gap = gapIn(mended)) {
    mended = mended.slice(0, gap.at) + gap.filling + mended.slice(gap.at);
  }
  return mended;
}

/** Where something invisible keeps that parser on the line. */
function gapIn(text: string): { at: number; filling: string } | null {
  const visible = text.replace(CODE, (code) => "`".repeat(code.length));
  const lastWord = visible.slice(1 + Math.max(...[" ", ")", ">"].map((mark) => visible.lastIndexOf(mark))));
  const parenthesis = openParenthesis(visible);
  const link = HALF_LINK.exec(visible);

  if (parenthesis !== null) {
    const isApart = parenthesis === 0 || /\s/.test(visible.charAt(parenthesis - 1));
    return { at: parenthesis, filling: isApart ? ZERO_WIDTH_SPACE : ` ${ZERO_WIDTH_SPACE}` };
  }
  if (visible.endsWith("[") || /:\/\/[^ ]*\\$/.test(visible.slice(visible.lastIndexOf(" ") + 1))) {
    return { at: text.length, filling: ZERO_WIDTH_SPACE };
  }
  if (HANDLE.test(lastWord)) return { at: text.length, filling: ` ${ZERO_WIDTH_SPACE}` };
  return link ? { at: link.index + link[0].indexOf("](") + 1, filling: ZERO_WIDTH_SPACE } : null;
}

/** The place of a parenthesis that opens the text and is never closed. */
function openParenthesis(visible: string): number | null {
  const closed = Math.max(visible.lastIndexOf(")"), visible.lastIndexOf(">"));
  const at = visible.startsWith("(>", closed - 1) ? closed - 1 : visible.indexOf("(", closed + 1);
  return at >= 0 && visible[at + 1] !== "#" && LEAD.test(visible.slice(0, at)) ? at : null;
}

function withoutLiteralBackticks(text: string): string {
  return literalBackticks(text).reduceRight(
    (mended, at) => `${mended.slice(0, at)}${GRAVE}${mended.slice(at + 1)}`,
    text,
  );
}
