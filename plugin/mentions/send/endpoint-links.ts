// plugin/mentions/send/endpoint-links.ts: endpoints that a page names, in its HTML and in `Link` headers.
import type { Element } from "hast";
import { findBase, hasRel, parseHtml, readHref, walkElements } from "../../http/parse-html.js";
import { resolveUrl } from "../../url.js";

/** A quoted value, perhaps without its last quote, or one up to the next separator. */
const VALUE = String.raw`"(?:[^"\\]|\\.)*"?|[^;,]*`;
/** A parameter with its name and value. Text between its value and the next semicolon is ignored. */
const PARAMETER = String.raw`;([^=;,]*)(?:=\s*(${VALUE}))?[^;,]*`;
const PARAMETERS = new RegExp(PARAMETER, "gs");
/** A link with its target and parameters, or something else up to the next comma. */
const LINK = new RegExp(String.raw`[\s,]*(?:<([^>]*)>([^;,]*(?:${PARAMETER})*)|[^\s,<][^,]*)`, "gsy");

/**
 * The endpoints that the `link` and `a` elements of a page name, in document order.
 *
 * @param pageUrl - the URL of the page after redirects
 * @returns absolute URLs of any protocol; invalid ones are left out
 * @see PROTOCOL 2.2, W3C Webmention 3.1.2
 */
export async function endpointsInHtml(html: string, pageUrl: string): Promise<string[]> {
  const elements = [...walkElements((await parseHtml(html)).tree)];
  const base = findBase(elements, pageUrl);
  return elements
    .filter(isEndpoint)
    .map(readHref)
    .map((href) => (href === "" ? pageUrl : resolveUrl(href ?? "", base)))
    .filter((url) => url !== null);
}

function isEndpoint(element: Element): boolean {
  const isLink = element.tagName === "link" || element.tagName === "a";
  return isLink && readHref(element) !== null && hasRel(element, "webmention");
}

/**
 * The targets of the links that have a relation, in order.
 *
 * A link with an `anchor` belongs to another page and is left out. A malformed link is skipped up to the next comma.
 *
 * @param header - the values of all `Link` headers, joined by commas
 * @param rel - in lower case
 * @returns the targets as written, possibly relative; in time linear in the header's length
 * @example linkTargets('</next>; rel=next, </wm>; rel="x webmention"', "webmention") // ["/wm"]
 * @see RFC 8288, 3 and B.3
 */
export function linkTargets(header: string, rel: string): string[] {
  const targets: string[] = [];
  for (const [, target, rest = ""] of header.matchAll(LINK)) {
    const parameters = parseParameters(rest);
    const rels = parameters.get("rel")?.toLowerCase().split(/\s+/) ?? [];
    if (target !== undefined && rels.includes(rel) && !parameters.has("anchor")) targets.push(target.trim());
  }
  return targets;
}

/** @returns values by lowercase name; the first of each counts */
function parseParameters(text: string): Map<string, string> {
  const found = [...text.matchAll(PARAMETERS)].map(
    ([, name = "", value = ""]) => [name.trim().toLowerCase(), unquoted(value.trim())] as const,
  );
  return new Map(found.reverse());
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.replace(/^"|"$/g, "").replace(/\\(.)/gs, "$1") : value;
}
