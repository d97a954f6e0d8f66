// plugin/site/read-plain-html.ts: reads the HTML that a host writes for a text, without a parser.
import { decodeReferences, type Markup } from "./html.js";
import { STRANGERS_REL, safeElement } from "./safe-markup.js";

const TAG = new RegExp(
  `<(?:(br)|(/?)(p|a|code|em|strong|pre|blockquote|ul|ol|li)(?: href="([^"<>\\0\\r]*)" rel="${STRANGERS_REL}")?)>`,
  "y",
);
/** The elements in which the parser leaves an element where it is; "" is the root. */
const BLOCK_PARENTS = ["", "blockquote", "li"];
const INLINE_PARENTS = ["p", "pre", "li", "a", "code", "em", "strong"];
const PARENTS: Readonly<Record<string, readonly string[]>> = {
  ...{ p: BLOCK_PARENTS, pre: BLOCK_PARENTS, blockquote: BLOCK_PARENTS, ul: BLOCK_PARENTS, ol: BLOCK_PARENTS },
  ...{ li: ["ul", "ol"], a: INLINE_PARENTS, code: INLINE_PARENTS, em: INLINE_PARENTS, strong: INLINE_PARENTS },
};

/** An element whose end tag is not read yet. */
interface Open {
  tag: string;
  href: string | null;
  children: Markup[];
}

/**
 * Reads paragraphs of safe elements, nested as written.
 *
 * @returns the same as `readHtml`; `null` for HTML that needs the parser
 */
export function readPlainHtml(html: string): readonly Markup[] | null {
  const root: Open = { tag: "", href: null, children: [] };
  const open = [root];
  for (let at = 0; at < html.length; ) {
    const end = html[at] === "<" ? readTag(html, at, open) : readText(html, at, open);
    if (end === null) return null;
    at = end;
  }
  return open.length === 1 ? root.children : null;
}

/** @returns where the text ends; `null` for one that the parser would change or move */
function readText(html: string, at: number, open: readonly Open[]): number | null {
  const tagAt = html.indexOf("<", at);
  const end = tagAt < 0 ? html.length : tagAt;
  const text = decode(html.slice(at, end));
  if (text === null || (open.length === 1 && text !== "\n")) return null;
  // The parser drops a line break after `<pre>`.
  const parent = open.at(-1);
  if (text.startsWith("\n") && parent?.tag === "pre" && parent.children.length === 0) return null;
  open.at(-1)?.children.push(text);
  return end;
}

/** @returns where the tag ends; `null` for one that the parser would change or move */
function readTag(html: string, at: number, open: Open[]): number | null {
  TAG.lastIndex = at;
  const [found, isBreak, slash, tag = "", href] = TAG.exec(html) ?? [];
  const parent = open.at(-1);
  if (found === undefined || parent === undefined) return null;
  if (isBreak !== undefined) {
    if (open.length === 1) return null;
    parent.children.push(...safeElement("br", null, []));
  } else if (slash === "/") {
    if (parent.tag !== tag || href !== undefined) return null;
    open.pop();
    open.at(-1)?.children.push(...safeElement(tag, parent.href, parent.children));
  } else {
    const url = href === undefined ? null : decode(href);
    const isInline = PARENTS[tag] === INLINE_PARENTS;
    if (!PARENTS[tag]?.includes(parent.tag) || (isInline && open.some((outer) => outer.tag === tag))) return null;
    if (href !== undefined && (url === null || tag !== "a")) return null;
    open.push({ tag, href: url, children: [] });
  }
  return at + found.length;
}

/** @returns `null` for a text with other references, or with a character that the parser replaces */
function decode(html: string): string | null {
  return /[\0\r]/.test(html) ? null : decodeReferences(html);
}
