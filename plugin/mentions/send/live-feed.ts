// plugin/mentions/send/live-feed.ts: reads this site's published feed, its archives, and the mentions in them.
import { hash } from "node:crypto";
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { type FeedHeader, type ParsedTwt, parseFeed } from "../../feed/feed.js";
import { isNick } from "../../feed/mention.js";
import { groupBy } from "../../groups.js";
import { FEED_BYTES, isFeed, previousPart, startsAsMarkup } from "../../http/feed-file.js";
import type { Ask } from "../../http/guard.js";
import { NETWORKS } from "../../options/syndicate.js";
import { isFeedUrl } from "../../url.js";
import { StoredUrl } from "../mention.js";

/** Forty years of months. Ends a circular chain of archives. */
const MAX_PARTS = 500;

interface Part {
  header: FeedHeader;
  twts: ParsedTwt[];
  /** The URL of the newest archive, or of the one before; `null` for none. */
  archive: string | null;
}

export interface LiveFeed extends Part {
  /** The URL for references: its first `url` field, or where it was read. */
  identity: string;
  /** `null` if it has none that is valid in a mention. */
  nick: string | null;
  /** The values of its `url` field. */
  names: string[];
}

export interface Archives {
  twts: ParsedTwt[];
  /** Why reading stopped early; `null` if it did not. */
  trouble: string | null;
}

/**
 * Reads the feed at its own URL, bypassing caches.
 *
 * @throws TwtxtError `feed-not-live` if there is no feed, so that its twts are not taken for deleted ones
 */
export async function readLiveFeed(ask: Ask, feedUrl: string): Promise<LiveFeed> {
  return readAnyFeed(ask, feedUrl).catch((error: unknown) => {
    if (!(error instanceof TwtxtError)) throw error;
    const message = `${error.message} Nothing was sent. Check that the site is deployed, then try again.`;
    throw new TwtxtError("feed-not-live", message, { cause: error });
  });
}

/**
 * Reads a feed, perhaps another author's, bypassing caches.
 *
 * @throws TwtxtError `feed-not-live` if there is no feed, and as the guard
 */
export async function readAnyFeed(ask: Ask, feedUrl: string): Promise<LiveFeed> {
  const part = await readPart(ask, feedUrl);
  const names = part.header.url ?? [];
  const [identity = feedUrl] = names.filter((name) => !/[\s#]/.test(name) && isFeedUrl(name));
  const nick = part.header.nick?.find(isNick) ?? null;
  return { ...part, identity, nick, names };
}

/**
 * Reads the archives, newest first, until one has a twt as old as wanted.
 *
 * @param wanted - an instant; "" for all archives
 */
export async function readArchives(ask: Ask, feed: LiveFeed, wanted: string): Promise<Archives> {
  const twts: ParsedTwt[] = [];
  const asked = new Set<string>();
  const isOldEnough = (part: readonly ParsedTwt[]) => part.some(({ instant }) => instant <= wanted);

  for (let url = feed.archive, part = feed.twts; url !== null && !isOldEnough(part); ) {
    if (asked.has(url) || asked.size === MAX_PARTS)
      return { twts, trouble: `The feed's archives form a loop, or there are more than ${MAX_PARTS} of them: ${url}.` };
    asked.add(url);
    try {
      const archive = await readPart(ask, url);
      twts.push(...archive.twts);
      part = archive.twts;
      url = archive.archive;
    } catch (error) {
      if (!(error instanceof TwtxtError)) throw error;
      return { twts, trouble: `${error.message} No removals were sent, since missing twts may be in that archive.` };
    }
  }
  return { twts, trouble: null };
}

/** @throws TwtxtError `feed-not-live`, and as `ask` does */
async function readPart(ask: Ask, url: string): Promise<Part> {
  const response = await ask(url, { headers: { "cache-control": "no-cache" }, isFeed: true, maxBytes: FEED_BYTES });
  if (response.status !== 200) {
    response.close();
    throw new TwtxtError("feed-not-live", `${url} answers ${response.status}.`);
  }
  const file = await response.bytes();
  const feed = parseFeed(file);
  if (startsAsMarkup(file.toString()) || !isFeed(feed)) {
    throw new TwtxtError("feed-not-live", `${url} is not a feed.`);
  }
  return { ...feed, archive: previousPart(feed.header, response.url)?.url ?? null };
}

/** A mention of one feed or page by one twt, or a link in its post, counted once. */
export const LiveMention = v.object({
  /** Hash of timestamp and target, 32 hex digits. */
  pair: v.string(),
  timestamp: v.string(),
  instant: v.string(),
  nick: v.nullable(v.string()),
  /** The mention's URL without its fragment, otherwise byte for byte. A link has its fragment. */
  target: StoredUrl,
  /** Hash of the twt's text, 16 hex digits; the same for all links. */
  text: v.string(),
  /** The hash of the twt that the twt answers; `null` for none. */
  subject: v.nullable(v.string()),
  /** Whether it is a link in the body of the post. */
  isLink: v.boolean(),
  /** The network of a copy of the post; absent for mentions and links. */
  network: v.optional(v.picklist(NETWORKS)),
});
export type LiveMention = v.InferOutput<typeof LiveMention>;

/**
 * Collects mentions, one for each timestamp and target. Twts with the same timestamp count as one, since a reference
 * cannot tell them apart.
 *
 * @param isOwn - whether a URL is this site's own; mentions of it are left out
 * @see PROTOCOL 2.3
 */
export function liveMentions(twts: readonly ParsedTwt[], isOwn: (url: string) => boolean): LiveMention[] {
  const found = new Map<string, LiveMention>();
  for (const [timestamp, same] of groupBy(twts, (twt) => twt.timestamp)) {
    const text = shortHash(same.map((twt) => twt.text).join("\n"), 16);
    for (const { instant, mentions, subject } of same) {
      for (const { nick, url } of mentions) {
        const target = url.replace(/#.*$/s, "");
        const pair = shortHash(`${timestamp}\n${target}`, 32);
        if (!found.has(pair) && !isOwn(target))
          found.set(pair, { pair, timestamp, instant, nick, target, text, subject, isLink: false });
      }
    }
  }
  return [...found.values()];
}

/** The first hex digits of a text's SHA-256, for use in keys. */
export function shortHash(text: string, digits: number): string {
  return hash("sha256", text).slice(0, digits);
}
