// plugin/site/linked-text.ts: the plain text of a message with its URLs as links.
import { element, type Markup } from "./html.js";
import { STRANGERS_REL } from "./safe-markup.js";

const LINK = /https?:\/\/[^\s<>"]*[^\s<>".,:;!?')\]]/g;

/** A text with its URLs as links. */
export function linkedText(text: string): Markup[] {
  const parts: Markup[] = [];
  let end = 0;
  for (const { 0: url, index } of text.matchAll(LINK)) {
    parts.push(text.slice(end, index), element("a", { href: url, rel: STRANGERS_REL, target: "_blank" }, url));
    end = index + url.length;
  }
  return [...parts, text.slice(end)];
}
