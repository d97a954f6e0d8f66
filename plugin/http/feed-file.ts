// plugin/http/feed-file.ts: feeds from the network: recognition, previous parts and the endpoint for mentions.
import { readPrevious } from "../feed/archives.js";
import { type FeedHeader, type ParsedFeed, type ParsedTwt, parseFeed } from "../feed/feed.js";
import { canParseUrl } from "../url.js";
import { webUrlOrNull } from "../web-url.js";
import { type TimeSlices, textPieces } from "./time-slices.js";

/** Maximum size of a feed. PROTOCOL 6 */
export const FEED_BYTES = 8 * 1024 * 1024;
/** Characters of a feed that may contain its header. */
const HEADER_LENGTH = 16 * 1024;

/** Whether a text starts like an HTML page, after white space. */
export function startsAsMarkup(text: string): boolean {
  return /^[\s\uFEFF]*</.test(text);
}

/** Whether a file without markup is a feed: it has a twt, a nick or a URL. */
export function isFeed({ twts, header }: Pick<ParsedFeed, "header"> & { twts: readonly unknown[] }): boolean {
  return twts.length > 0 || header.nick !== undefined || header.url !== undefined;
}

/** Parses a feed; other requests are answered in between. */
export async function parseInSlices(
  text: string,
  slices: TimeSlices,
): Promise<{ header: FeedHeader; twts: ParsedTwt[] }> {
  const parts = await slices.map(textPieces(text, /\n/g), (lines) => parseFeed(lines).twts);
  return { header: parseFeed(text.slice(0, HEADER_LENGTH)).header, twts: parts.flat() };
}

/** The previous part of a feed, from its field `prev`. PROTOCOL 1.4 */
interface PreviousPart {
  url: string;
  /** The hash of its last twt. */
  hash: string;
}

/**
 * @param partUrl - the URL of the part with this header
 * @returns `null` for the first part or an invalid `prev`
 */
export function previousPart(header: FeedHeader, partUrl: string): PreviousPart | null {
  const previous = readPrevious(header);
  if (previous === null || !canParseUrl(previous.file, partUrl)) return null;
  const url = new URL(previous.file, partUrl);
  url.hash = "";
  return { url: url.href, hash: previous.hash };
}

/**
 * The endpoint for mentions from a feed's header. Values with white space are remarks and are ignored. PROTOCOL 2.2
 *
 * @returns `null` for none
 */
export function endpointInHeader({ webmention = [] }: FeedHeader, feedUrl: string): string | null {
  return firstEndpoint(
    webmention.filter((value) => /^\S+$/.test(value)),
    feedUrl,
  );
}

/** The first usable endpoint of a list, without fragment. @param base - resolves relative URLs */
export function firstEndpoint(values: readonly string[], base: string): string | null {
  for (const value of values) {
    // An empty one names the page itself.
    const url = webUrlOrNull(value || base, base);
    if (url !== null) return url.replace(/#.*$/s, "");
  }
  return null;
}
