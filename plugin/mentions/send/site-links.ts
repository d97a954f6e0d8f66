// plugin/mentions/send/site-links.ts: links in the site's posts, sent as classic Webmentions, and in its live pages. PROTOCOL 2.3
import { memoize } from "../../concurrency.js";
import { TwtxtError } from "../../errors.js";
import type { ParsedTwt } from "../../feed/feed.js";
import type { Ask } from "../../http/guard.js";
import { findBase, parseHtml, readHref, walkElements } from "../../http/parse-html.js";
import type { PublishedSite } from "../../site/site.js";
import { resolveUrl } from "../../url.js";
import { Moderation } from "../receive/moderation.js";
import { LINK_TEXT } from "./ledger-records.js";
import { type LiveMention, shortHash } from "./live-feed.js";

const MAX_BYTES = 1 << 20;

/** The links of a site's posts, as its build found them. */
export interface SiteLinks {
  /** @returns absolute URLs, perhaps with a fragment; `null` if the build does not know the twt or its post has no page */
  of(timestamp: string): readonly string[] | null;
  /** Whether the option `mentions.block` names this URL. */
  isBlocked(url: string): boolean;
  /** Whether a page is built without a twt. A post with `twt: false` keeps its links, although they are no longer sent. */
  isWithoutTwt(page: string): boolean;
}

/** @returns `off` for a site that does not send its links */
export function siteLinks({ settings, pages }: PublishedSite): SiteLinks | "off" {
  if (!settings.mentions.links) return "off";
  const moderation = new Moderation(settings.mentions);
  const links = new Map(pages.twts.map((twt) => [twt.timestamp, twt.page === null ? null : twt.links]));
  const withTwt = new Set(pages.twts.map(({ page }) => page));
  const withoutTwt = new Set(pages.pages.filter((page) => !withTwt.has(page)));
  return {
    of: (timestamp) => links.get(timestamp) ?? null,
    isBlocked: (url) => moderation.isBlocked(url),
    isWithoutTwt: (page) => withoutTwt.has(page),
  };
}

/** The links of the posts of these twts. */
export function liveLinks(twts: readonly ParsedTwt[], links: SiteLinks): LiveMention[] {
  const instants = new Map(twts.map(({ timestamp, instant }) => [timestamp, instant]));
  return [...instants].flatMap(([timestamp, instant]) =>
    (links.of(timestamp) ?? []).map((target) => {
      const pair = shortHash(`${timestamp}\n${comparableLink(target)}`, 32);
      return { pair, timestamp, instant, nick: null, target, text: LINK_TEXT, subject: null, isLink: true };
    }),
  );
}

/** The form in which links are compared: without a fragment. */
export function comparableLink(url: string): string {
  const page = new URL(url);
  page.hash = "";
  return page.href;
}

/** @returns the URLs that a page links to, without fragments; `null` if the page is too large to say */
export type LinksOfPage = (page: string) => Promise<ReadonlySet<string> | null>;

/**
 * Creates the function that reads the links of a page. It requests each page once, bypassing caches. A deleted page has
 * no links.
 *
 * @returns a function that throws TwtxtError `unreachable`, and as the guard does
 */
export function linksOfLivePages(ask: Ask): LinksOfPage {
  return memoize(async (page) => {
    const response = await ask(page, { headers: { "cache-control": "no-cache" }, maxBytes: MAX_BYTES });
    const { status, url } = response;
    if (status === 200) {
      const { bytes, trouble } = await response.start();
      if (trouble && trouble.code !== "too-large") throw trouble;
      return trouble ? null : parseLinks(bytes.toString(), url);
    }
    response.close();
    if (status === 404 || status === 410) return new Set();
    throw new TwtxtError("unreachable", `${page} answers ${status}.`);
  });
}

async function parseLinks(html: string, url: string): Promise<ReadonlySet<string> | null> {
  const { tree, isWhole } = await parseHtml(html);
  if (!isWhole) return null;
  const elements = [...walkElements(tree)];
  const base = findBase(elements, url);
  const links = elements.flatMap((element) =>
    element.tagName === "a" ? [resolveUrl(readHref(element) ?? "", base)] : [],
  );
  return new Set(links.filter((link) => link !== null).map(comparableLink));
}
