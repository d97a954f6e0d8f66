// plugin/mentions/verify/html-elements.ts: elements of untrusted pages.
import type { Element } from "hast";

/** Elements whose contents are not text. */
export const SILENT_TAGS = new Set("head iframe math noscript object script select style svg textarea".split(" "));

/** Whether an element has a class that matches. */
export function hasClass({ properties: { className } }: Element, matches: (name: string) => boolean): boolean {
  return [className ?? []].flat().some((name) => matches(String(name)));
}
