// plugin/author/timeline/find-feed.ts: finds the feed of an author: by its URL, by the links of a page, or by the address of their site.
import type { Element } from "hast";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import { FEED_BYTES } from "../../http/feed-file.js";
import type { Ask } from "../../http/guard.js";
import { findBase, hasRel, parseHtml, walkElements } from "../../http/parse-html.js";
import { readAnyFeed } from "../../mentions/send/live-feed.js";
import { isSmallWeb, resolveUrl } from "../../url.js";

/**
 * Finds a feed: at the URL itself, in the links of the page there, or at `/twtxt.txt` of a front page.
 *
 * @returns its URL and its nick; `null` if it has none that is valid in a mention
 * @throws TwtxtError `feed-not-live` if there is none, and as the guard
 */
export async function findFeed(url: string, ask: Ask) {
  const searchPage = async (error: TwtxtError) => {
    for (const place of await findNamedPlaces(url, ask)) {
      // One place that cannot be read does not end the search.
      const feed = await readFeed(place, ask).catch(ifTwtxtError(() => null));
      if (feed) return feed;
    }
    const advice = "No feed was found there. Ask the author for its URL, such as https://bob.example/twtxt.txt";
    throw new TwtxtError("feed-not-live", `${error.message} ${advice}`, { cause: error });
  };
  return readFeed(url, ask).catch(ifTwtxtError(searchPage, "feed-not-live"));
}

async function readFeed(url: string, ask: Ask) {
  const { nick } = await readAnyFeed(ask, url);
  return { url, nick };
}

async function findNamedPlaces(url: string, ask: Ask): Promise<string[]> {
  if (isSmallWeb(url)) return [];
  const response = await ask(url, { maxBytes: FEED_BYTES });
  const { pathname } = new URL(response.url);
  const usual = pathname === "/" ? [new URL(USUAL_PLACE, response.url).href] : [];
  const isPage = response.status === 200 && /^text\/html\b/i.test(response.headers["content-type"] ?? "");
  if (isPage) return [...(await feedLinks((await response.bytes()).toString(), response.url)), ...usual];
  response.close();
  return usual;
}

/** The path of a feed on most sites. */
export const USUAL_PLACE = "/twtxt.txt";
const MAX_LINKS = 5;

/** The links of a page to plain text, at most five: a feed, or another file such as `/llms.txt`. */
export async function feedLinks(html: string, pageUrl: string): Promise<string[]> {
  const elements = [...walkElements((await parseHtml(html)).tree)];
  const base = findBase(elements, pageUrl);
  const hrefs = elements.filter(isFeedLink).map(({ properties: { href } }) => String(href));
  const urls = hrefs.flatMap((href) => resolveUrl(href, base) ?? []);
  return [...new Set(urls)].slice(0, MAX_LINKS);
}

function isFeedLink(element: Element): boolean {
  const { type, href } = element.properties;
  const isPlain = /^text\/plain\b/i.test(String(type));
  return element.tagName === "link" && hasRel(element, "alternate") && isPlain && Boolean(href);
}
