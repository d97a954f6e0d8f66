// plugin/http/feed-file.ts: a feed from the network: whether a file is one, and what its header names.
import { previousOf } from "../feed/archive.js";
import type { FeedHeader, ParsedFeed } from "../feed/feed.js";

/** No more of a feed is read. PROTOCOL 6 */
export const FEED_BYTES = 8 * 1024 * 1024;
const MAX_URL_LENGTH = 2048;

/** Whether a text is a page, whatever it has at the starts of its lines. White space alone may begin either. */
export function startsAsMarkup(text: string): boolean {
  return /^[\s\uFEFF]*</.test(text);
}

/** Whether a file that is no markup is a feed: it has a twt, or says whose feed it is. */
export function isFeed({ twts, header }: Pick<ParsedFeed, "header"> & { twts: readonly unknown[] }): boolean {
  return twts.length > 0 || header.nick !== undefined || header.url !== undefined;
}

/** The part of a feed before this one, as its field `prev` names it. PROTOCOL 1.4 */
export interface PreviousPart {
  url: string;
  /** The hash of its last twt. */
  hash: string;
}

/**
 * @param partUrl - where the part was read
 * @returns `null` for the first part, and for a `prev` that leads nowhere
 */
export function previousPart(header: FeedHeader, partUrl: string): PreviousPart | null {
  const previous = previousOf(header);
  if (previous === null || !URL.canParse(previous.file, partUrl)) return null;
  const url = new URL(previous.file, partUrl);
  url.hash = "";
  return { url: url.href, hash: previous.hash };
}

/**
 * The endpoint for mentions that a feed names. White space is no part of a URL, and a value with words in it is a remark.
 *
 * @returns `null` for none. PROTOCOL 2.2
 */
export function endpointInHeader({ webmention = [] }: FeedHeader, feedUrl: string): string | null {
  return firstEndpoint(
    webmention.filter((value) => /^\S+$/.test(value)),
    feedUrl,
  );
}

/**
 * The first of some endpoints that can be asked, without its fragment: a request has none.
 *
 * @param base - what relative ones are relative to
 */
export function firstEndpoint(values: readonly string[], base: string): string | null {
  for (const value of values) {
    if (value.length > MAX_URL_LENGTH || !URL.canParse(value, base)) continue;
    const url = new URL(value, base);
    url.hash = "";
    const isWeb = url.protocol === "https:" || url.protocol === "http:";
    if (isWeb && url.username === "" && url.password === "") return url.href;
  }
  return null;
}
