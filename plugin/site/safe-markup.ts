// plugin/site/safe-markup.ts: which markup of strangers is shown, and how it is limited.
import { canParseUrl, isFeedUrl } from "../url.js";
import { element, type Markup } from "./html.js";

export const SAFE_ELEMENTS = ["p", "a", "code", "pre", "em", "strong", "br", "blockquote", "ul", "ol", "li"] as const;

export const STRANGERS_REL = "nofollow ugc noopener";

/** Accents above or below one letter. Vietnamese needs two, Hebrew and Tibetan up to four. */
const MANY_MARKS = /(\p{M}{4})\p{M}+/gu;

/** A text with at most four combining marks in a row: more of them would cover the lines around. */
export function boundedMarks(text: string): string {
  return text.replace(MANY_MARKS, "$1");
}

/** An element of a stranger's text if it is allowed; otherwise its children. @param tag - in lower case */
export function safeElement(tag: string, href: string | null, children: readonly Markup[]): readonly Markup[] {
  if (!SAFE_ELEMENTS.some((safe) => safe === tag)) return children;
  if (tag !== "a") return [{ tag, attributes: {}, children }];
  if (href === null || !isFeedUrl(href)) return children;
  const [first] = children;
  // A mention of its own direction, as in `<bdi>`: the "@" stays with its name in a text from right to left.
  const isMention = typeof first === "string" && first.startsWith("@");
  return [{ tag, attributes: { href, rel: STRANGERS_REL, ...(isMention && { dir: "auto" }) }, children }];
}

export function isWeb(url: string): boolean {
  return /^https?:\/\//i.test(url) && canParseUrl(url);
}

const LINK = /https?:\/\/[^\s<>"]*[^\s<>".,:;!?')\]]/g;

export function linkedText(text: string): Markup[] {
  const parts: Markup[] = [];
  let end = 0;
  for (const { 0: url, index } of text.matchAll(LINK)) {
    parts.push(text.slice(end, index), element("a", { href: url, rel: STRANGERS_REL, target: "_blank" }, url));
    end = index + url.length;
  }
  return [...parts, text.slice(end)];
}
