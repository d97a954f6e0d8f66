// plugin/mentions/verify/html-elements.ts: elements of untrusted pages.
import type { Element } from "hast";

/** Elements whose contents are not text. */
export const SILENT_TAGS = new Set("head iframe math noscript object script select style svg textarea".split(" "));

/** Elements that begin a new line. */
export const BLOCK_TAGS = new Set(
  "address article aside blockquote dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul".split(
    " ",
  ),
);

export function hasClass({ properties: { className } }: Element, matches: (name: string) => boolean): boolean {
  return [className ?? []].flat().some((name) => matches(String(name)));
}
