// plugin/mentions/receive/ours.ts: maps URLs to this site's feeds and pages, by the list that its build has left.
import type { SitePages } from "../../eleventy/host-settings.js";
import { isArchiveOf } from "../../feed/archive.js";
import { comparableUrl } from "../../http/same-url.js";
import type { Target } from "../mention.js";

/** The site's own URLs. They are compared with the configuration, and never resolved. */
export interface Ours {
  /** @returns the URL as the site writes it; `null` for any other site's */
  target(url: string): Target | null;
  /** Whether this is our feed, under any of its names, or one of its archives. */
  isFeed(url: string): boolean;
  /** Whether a page, as the site writes its URL, is that of a twt. */
  isPost(page: string): boolean;
  /** @returns the page of our twt with this timestamp; `null` for none */
  pageOfTwt(timestamp: string): string | null;
  /** @returns the page of our twt with this hash, in either of its forms; `null` for none */
  pageOfHash(hash: string): string | null;
}

/**
 * A page is also meant by its everyday forms: with or without the last slash, with `index.html`, with a query.
 *
 * @param pages - the feed first of all its names
 * @see PROTOCOL 2.4, "The request"
 */
export function oursOf({ feeds, pages, twts }: SitePages): Ours {
  const [url = ""] = feeds;
  const feed: Target = { url, kind: "feed" };
  const feedKeys = feeds.map(keyOf);
  const exact = new Map(pages.map((url): [string, Target] => [keyOf(url), { url, kind: "page" }]));
  // Where two pages share a form, such as "/a" and "/a/", it means the first.
  const everyday = new Map(
    [...exact]
      .filter(([key]) => !key.includes("?"))
      .reverse()
      .map(([key, target]) => [everydayForm(key), target]),
  );

  const find = (url: string): Target | null => {
    const key = comparableUrl(url);
    if (key === null) return null;
    if (feedKeys.some((name) => name === key || isArchiveOf(name, key))) return feed;
    return exact.get(key) ?? exact.get(withoutQueryOf(key)) ?? everyday.get(everydayForm(key)) ?? null;
  };
  const posts = new Set(twts.map(({ page }) => page));
  const byTimestamp = new Map(twts.map(({ timestamp, page }) => [timestamp, page]));
  const byHash = new Map(twts.flatMap(({ hashes, page }) => hashes.map((hash) => [hash, page])));

  return {
    target: find,
    isPost: (page) => posts.has(page),
    isFeed: (url) => find(url)?.kind === "feed",
    pageOfTwt: (timestamp) => byTimestamp.get(timestamp) ?? null,
    pageOfHash: (hash) => byHash.get(hash.toLowerCase()) ?? null,
  };
}

function keyOf(url: string): string {
  return comparableUrl(url) ?? url;
}

/** Without query, `index.html` and the last slash. */
function everydayForm(comparable: string): string {
  return withoutQueryOf(comparable).replace(/\/(?:index\.html?)?$/, "");
}

function withoutQueryOf(comparable: string): string {
  return comparable.replace(/\?.*$/s, "");
}
