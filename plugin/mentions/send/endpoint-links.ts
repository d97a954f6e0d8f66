// plugin/mentions/send/endpoint-links.ts: endpoints that a page names, in its HTML and in `Link` headers.
import type { Element } from "hast";
import { elementsOf, parseHtml } from "../../http/parse-html.js";
import { canParseUrl } from "../../url.js";

/** A longer base would be parsed again for each link. */
const MAX_URL_LENGTH = 2048;

/**
 * The endpoints that the `link` and `a` elements of a page name, in document order.
 *
 * @param pageUrl - the URL of the page after redirects
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
  return url !== null && url.length <= MAX_URL_LENGTH && /^https?:/.test(url) ? url : pageUrl;
}

function hrefOf({ properties: { href } }: Element): string | null {
  return typeof href === "string" ? href : null;
}

function resolve(href: string, base: string): string | null {
  return canParseUrl(href, base) ? new URL(href, base).href : null;
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
  for (const { target, parameters } of readLinks(header)) {
    const rels = parameters.get("rel")?.toLowerCase().split(/\s+/) ?? [];
    if (rels.includes(rel) && !parameters.has("anchor")) targets.push(target);
  }
  return targets;
}

interface Link {
  target: string;
  /** By lowercase name; the first of each counts. */
  parameters: Map<string, string>;
}

function* readLinks(header: string): Iterable<Link> {
  const text = new Scanner(header);
  for (text.take(/[\s,]*/y); !text.isAtEnd(); text.take(/[\s,]*/y)) {
    if (text.take(/</y) === "") {
      text.take(/[^,]*/y);
      continue;
    }
    const target = text.take(/[^>]*/y).trim();
    if (text.take(/>/y) === "") return;
    yield { target, parameters: readParameters(text) };
  }
}

/** Reads up to a comma or the end. */
function readParameters(text: Scanner): Map<string, string> {
  const parameters = new Map<string, string>();
  // Text without a preceding semicolon is ignored.
  for (text.take(/[^;,]*/y); text.take(/;/y) !== ""; text.take(/[^;,]*/y)) {
    const name = text
      .take(/[^=;,]*/y)
      .trim()
      .toLowerCase();
    const value = text.take(/=\s*/y) === "" ? "" : readValue(text);
    if (!parameters.has(name)) parameters.set(name, value);
  }
  return parameters;
}

function readValue(text: Scanner): string {
  const quoted = text.take(/"(?:[^"\\]+|\\.)*"?/sy);
  if (quoted === "") return text.take(/[^;,]*/y).trim();
  return quoted.replace(/^"|"$/g, "").replace(/\\(.)/gs, "$1");
}

class Scanner {
  #at = 0;

  constructor(readonly text: string) {}

  isAtEnd(): boolean {
    return this.#at >= this.text.length;
  }

  /** @param pattern - sticky */
  take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [taken = ""] = pattern.exec(this.text) ?? [];
    this.#at += taken.length;
    return taken;
  }
}
