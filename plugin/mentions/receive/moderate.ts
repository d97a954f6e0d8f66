// plugin/mentions/receive/moderate.ts: whose mentions are shown, held or refused, by the lists of the author.

import { isSameUrl, withoutQuery } from "../../http/same-url.js";
import type { Settings } from "../../options.js";

type Lists = Pick<Exclude<Settings["mentions"], false>, "allow" | "block" | "moderate">;

/** How the lists see a source: its feed or page, without fragment. */
export interface Moderation {
  isBlocked(url: string): boolean;
  isAllowed(url: string): boolean;
  /** Whether all but the allowed wait for the author. */
  moderate: boolean;
}

/**
 * An entry is a host, a `host:port`, or a feed. A blocked host stands for those below it too, since whoever has a
 * domain has all of its subdomains, and a blocked feed for its URL with any query. An allowed one stands for itself
 * alone: `feed?user=eve` may be another author than `feed`.
 *
 * @see PROTOCOL 2.5
 */
export function moderation({ allow, block, moderate }: Lists): Moderation {
  return {
    isBlocked: (url) => block.some((entry) => isListed(entry, url) || isBelow(entry, url)),
    isAllowed: (url) => allow.some((entry) => (isUrl(entry) ? isSameUrl(entry, url) : isHostOf(entry, url))),
    moderate,
  };
}

/** Whether an entry of a list stands for this URL, with or without its query. */
export function isListed(entry: string, url: string): boolean {
  return isUrl(entry) ? [url, withoutQuery(url)].some((name) => isSameUrl(entry, name)) : isHostOf(entry, url);
}

function isUrl(entry: string): boolean {
  return /^https?:\/\//.test(entry);
}

function isHostOf(entry: string, url: string): boolean {
  const { hostname, protocol, port } = new URL(url);
  const actual = port || (protocol === "http:" ? "80" : "443");
  return entry === hostname || entry === `${hostname}:${actual}`;
}

function isBelow(entry: string, url: string): boolean {
  return !entry.includes(":") && new URL(url).hostname.endsWith(`.${entry}`);
}
