// plugin/mentions/send/endpoint-in-html.ts: the Webmention endpoints named in a page's HTML.
import type { Element } from "hast";
import { elementsOf, parseHtml } from "../../http/parse-html.js";
import { canParseUrl } from "../../url.js";

const MAX_URL_LENGTH = 2048;

/**
 * The endpoints that the `link` and `a` elements of a page name, in document order.
 *
 * @param pageUrl - the URL that gave the page
 * @returns absolute URLs of any protocol; invalid ones are left out
 * @see PROTOCOL 2.2, W3C Webmention 3.1.2
 */
export async function endpointsInHtml(html: string, pageUrl: string): Promise<string[]> {
  const elements = [...elementsOf((await parseHtml(html)).tree)];
  const base = baseOf(elements, pageUrl);
  return elements
    .filter(isEndpoint)
    .map(hrefOf)
    .map((href) => (href === "" ? pageUrl : resolve(href ?? "", base)))
    .filter((url) => url !== null);
}

function isEndpoint(element: Element): boolean {
  if (element.tagName !== "link" && element.tagName !== "a") return false;
  const rels = [element.properties.rel ?? []].flat();
  return hrefOf(element) !== null && rels.some((rel) => String(rel).toLowerCase() === "webmention");
}

/** The base URL of the page's relative links: its first `base` with an http or https URL, else its own URL. */
export function baseOf(elements: Element[], pageUrl: string): string {
  const base = elements.find((element) => element.tagName === "base" && hrefOf(element) !== null);
  const url = resolve((base && hrefOf(base)) ?? "", pageUrl);
  // A long base would be parsed again for each link.
  return url !== null && url.length <= MAX_URL_LENGTH && /^https?:/.test(url) ? url : pageUrl;
}

function hrefOf({ properties: { href } }: Element): string | null {
  return typeof href === "string" ? href : null;
}

function resolve(href: string, base: string): string | null {
  return canParseUrl(href, base) ? new URL(href, base).href : null;
}
