// plugin/mentions/send/site-links.ts: links in the site's posts, sent as classic Webmentions. PROTOCOL 2.3
import type { ParsedTwt } from "../../feed/feed.js";
import type { PublishedSite } from "../../site/site.js";
import { Moderation } from "../receive/moderation.js";
import { LINK_TEXT } from "./changes.js";
import { type LiveMention, shortHash } from "./live-feed.js";

/** The links of a site's posts, as its build found them. */
export interface SiteLinks {
  /** @returns absolute URLs, perhaps with a fragment; `null` if the build does not know the twt or its post has no page */
  of(timestamp: string): readonly string[] | null;
  /** Whether the option `mentions.block` names this URL. */
  isBlocked(url: string): boolean;
}

/** @returns `off` for a site that does not send its links */
export function siteLinks({ settings, pages }: PublishedSite): SiteLinks | "off" {
  if (!settings.mentions.links) return "off";
  const moderation = new Moderation(settings.mentions);
  const links = new Map(pages.twts.map((twt) => [twt.timestamp, twt.page === null ? null : twt.links]));
  return { of: (timestamp) => links.get(timestamp) ?? null, isBlocked: (url) => moderation.isBlocked(url) };
}

/** The links of the posts of these twts. */
export function liveLinks(twts: readonly ParsedTwt[], links: SiteLinks): LiveMention[] {
  const instants = new Map(twts.map(({ timestamp, instant }) => [timestamp, instant]));
  return [...instants].flatMap(([timestamp, instant]) =>
    (links.of(timestamp) ?? []).map((target) => {
      const pair = shortHash(`${timestamp}\n${comparableLink(target)}`, 32);
      return { pair, timestamp, instant, nick: null, target, text: LINK_TEXT, isLink: true };
    }),
  );
}

/** Equal for links to the same page, whatever their fragments. */
export function comparableLink(url: string): string {
  const page = new URL(url);
  page.hash = "";
  return page.href;
}
