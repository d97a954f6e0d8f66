// plugin/text/post-links.ts: links to other sites in the body of a post. PROTOCOL 2.3
import { isLoopback, withoutLastDots } from "../url.js";
import { webUrlOrNull } from "../web-url.js";
import { ATTRIBUTES } from "./blob-links.js";

export const MAX_LINKS = 50;

/** Elements whose links are not links of the post. */
const LEFT_OUT = "script|style|textarea|template|pre|code|nav";
const TAGS = tagsExcept(LEFT_OUT);
/** The same for a post that is a whole page, because its template has no layout. */
const TAGS_OF_PAGE = tagsExcept(`${LEFT_OUT}|head|header|footer|aside`);
const LINK = /<a\s/i;
const WHOLE_PAGE = /<body[\s>]/i;

const ABSOLUTE = /^(?:https?:)?\/\//i;
const REFERENCE = /&(?:#(?<decimal>\d{1,7})|#x(?<hex>[\da-f]{1,6})|(?<name>amp|lt|gt|quot|apos));/gi;
const NAMED: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

interface LinkingSite {
  url: string;
  /** `false` for a site that sends no mentions. */
  mentions: false | { links: boolean; aliases: readonly string[] };
}

/** @param html - the rendered body of a post, without layout */
export type FindLinks = (html: string) => string[];

/**
 * Creates the function that finds the links to other sites in the body of a post. Mentions are left out, and so are links
 * that strangers wrote (`rel="ugc"`), such as those in a list of mentions.
 *
 * @returns a function that returns each page once, as it is written, with the fragment of its first link; no links for a
 *   site that does not send them
 * @example linkFinder(settings)('<a href="https://bob.example/#eggs">eggs</a>')
 */
export function linkFinder(settings: LinkingSite): FindLinks {
  const { mentions } = settings;
  if (mentions === false || !mentions.links) return () => [];
  // No one on the web can read the pages of a site on this machine.
  const isLocal = isLoopback(new URL(settings.url).hostname);
  const own = new Set([settings.url, ...mentions.aliases].map((url) => toSite(new URL(url))));
  const isSent = (url: URL) => !own.has(toSite(url)) && (!isLocal || isLoopback(url.hostname));
  return (html) => {
    if (!LINK.test(html)) return [];
    const links = new Map<string, string>();
    for (const { groups } of html.matchAll(WHOLE_PAGE.test(html) ? TAGS_OF_PAGE : TAGS)) {
      const href = groups?.attributes === undefined ? null : readHref(groups.attributes);
      const absolute = href !== null && ABSOLUTE.test(href) ? webUrlOrNull(href, settings.url) : null;
      if (href === null || absolute === null) continue;
      const url = new URL(absolute);
      if (!isSent(url)) continue;
      const link = href.startsWith("//") || /\s/.test(href) ? url.href : href;
      url.hash = "";
      if (!links.has(url.href)) links.set(url.href, link);
    }
    return [...links.values()];
  };
}

/** Matches comments and these elements as a whole, and the start tags of links. */
function tagsExcept(elements: string): RegExp {
  const quoted = `"[^"]*"|'[^']*'|[^"'<>]`;
  return new RegExp(
    `<!--.*?(?:-->|$)|<(?<raw>${elements})(?=[\\s>]).*?(?:</\\k<raw>\\s*>|$)|<a\\s(?<attributes>(?:${quoted})*)>`,
    "gis",
  );
}

function readHref(tag: string): string | null {
  const attributes = parseAttributes(tag);
  const isLeftOut = hasToken(attributes.get("class"), "u-mention") || hasToken(attributes.get("rel"), "ugc");
  return isLeftOut ? null : (attributes.get("href")?.trim() ?? null);
}

/** The first attribute of each name counts. */
function parseAttributes(tag: string): Map<string, string> {
  const found = [...tag.matchAll(ATTRIBUTES)].map(([, name = "", , double, single, bare = ""]) => {
    return [name.toLowerCase(), decode(double ?? single ?? bare)] as const;
  });
  return new Map(found.reverse());
}

function hasToken(value: string | undefined, token: string): boolean {
  return value?.toLowerCase().split(/\s+/).includes(token) ?? false;
}

function decode(text: string): string {
  return text.replace(REFERENCE, (...found) => {
    const { decimal, hex, name } = found.at(-1);
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? "";
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : "";
  });
}

/** The host of a URL; the same with and without "www." or a trailing dot, and for all names of this machine. */
function toSite({ hostname, port }: URL): string {
  const name = withoutLastDots(hostname.replace(/^www\./, ""));
  return `${isLoopback(name) ? "localhost" : name}:${port}`;
}
