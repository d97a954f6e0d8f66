// plugin/author/timeline/feed-links.ts: the feeds that a page names.
import type { Element } from "hast";
import { elementsOf, parseHtml } from "../../http/parse-html.js";
import { baseOf } from "../../mentions/send/endpoint-links.js";
import { canParseUrl } from "../../url.js";

/** The path of a feed on most sites. */
export const USUAL_PLACE = "/twtxt.txt";
const MAX_LINKS = 5;

/** The links of a page to plain text, at most five: a feed, or another file such as `/llms.txt`. */
export async function feedLinks(html: string, pageUrl: string): Promise<string[]> {
  const elements = [...elementsOf((await parseHtml(html)).tree)];
  const base = baseOf(elements, pageUrl);
  const hrefs = elements.filter(isFeedLink).map(({ properties: { href } }) => String(href));
  const urls = hrefs.filter((href) => canParseUrl(href, base)).map((href) => new URL(href, base).href);
  return [...new Set(urls)].slice(0, MAX_LINKS);
}

function isFeedLink({ tagName, properties: { rel, type, href } }: Element): boolean {
  const rels = [rel ?? []].flat().map((one) => String(one).toLowerCase());
  return tagName === "link" && rels.includes("alternate") && /^text\/plain\b/i.test(String(type)) && Boolean(href);
}
