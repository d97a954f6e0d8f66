// plugin/mentions/receive/ours.ts: which URLs are the site's own, by the list that its build has left.
import type { SitePages } from "../../eleventy/host-settings.js";
import { comparableUrl } from "../../http/same-url.js";
import type { Target } from "../mention.js";

/** The site's own URLs. They are compared with the configuration, and never resolved. */
export interface Ours {
  /** @returns the URL as the site writes it; `null` where it is none of ours */
  target(url: string): Target | null;
  /** Whether this is our feed, under any of its names. */
  isFeed(url: string): boolean;
  /** @returns the page of our twt of this moment; `null` for none */
  pageOfTwt(timestamp: string): string | null;
  /** @returns the page of our twt with this hash; `null` for none */
  pageOfHash(hash: string): string | null;
}

/** @param pages - the feed first of all its names */
export function oursOf({ feeds, pages, twts }: SitePages): Ours {
  const targets = new Map<string, Target>();
  const [feed = ""] = feeds;
  for (const url of pages) targets.set(comparableUrl(url) ?? url, { url, kind: "page" });
  for (const url of feeds) targets.set(comparableUrl(url) ?? url, { url: feed, kind: "feed" });
  const find = (url: string) => targets.get(comparableUrl(url) ?? "") ?? null;
  const byTimestamp = new Map(twts.map(({ timestamp, page }) => [timestamp, page]));
  const byHash = new Map(twts.map(({ hash, page }) => [hash, page]));

  return {
    target: find,
    isFeed: (url) => find(url)?.kind === "feed",
    pageOfTwt: (timestamp) => byTimestamp.get(timestamp) ?? null,
    pageOfHash: (hash) => byHash.get(hash) ?? null,
  };
}
