// plugin/mentions/send/live-feed.ts: our own feed as everybody sees it now, with its archives.
import { TwtxtError } from "../../errors.js";
import { type FeedHeader, type ParsedTwt, parseFeed } from "../../feed/feed.js";
import { isNick } from "../../feed/mention.js";
import { FEED_BYTES, isFeed, previousPart, startsAsMarkup } from "../../http/feed-file.js";
import type { Ask } from "../../http/guard.js";

/** The months of forty years. It ends a chain that would never end by itself. */
const MAX_PARTS = 500;

/** The feed itself, without its archives. */
export interface LiveFeed {
  /** Who it says it is, for references: its first `url`, or where it was read. */
  identity: string;
  /** `null` where it has none that a mention may hold. */
  nick: string | null;
  /** All of its `url`s. */
  names: string[];
  twts: ParsedTwt[];
  /** Where the archive before it stands; `null` for none. */
  archive: string | null;
}

/** What the archives hold, as far as they were read. */
export interface Archives {
  twts: ParsedTwt[];
  /** Why they could not be read to their end; `null` where they were, or as far as was wanted. */
  trouble: string | null;
}

/**
 * Reads the feed at its own URL, past every cache that can be told so.
 *
 * @throws TwtxtError `feed-not-live` where no feed is there: nothing follows from that, least of all that twts are gone
 */
export async function readLiveFeed(ask: Ask, feedUrl: string): Promise<LiveFeed> {
  const part = await readPart(ask, feedUrl).catch((error: unknown) => {
    if (!(error instanceof TwtxtError)) throw error;
    const message = `${error.message} Nothing was sent: see that the site is deployed, then try again.`;
    throw new TwtxtError("feed-not-live", message, { cause: error });
  });
  const names = part.header.url ?? [];
  const [identity = feedUrl] = names.filter(isIdentity);
  const nick = part.header.nick?.find(isNick) ?? null;
  return { identity, nick, names, twts: part.twts, archive: part.archive };
}

/**
 * Reads the archives, newest first, until a part holds a twt as old as wanted.
 *
 * @param wanted - an instant; the empty text, which is before all of them, for all archives
 */
export async function readArchives(ask: Ask, feed: LiveFeed, wanted: string): Promise<Archives> {
  const twts: ParsedTwt[] = [];
  const asked = new Set<string>();
  const isOldEnough = (part: readonly ParsedTwt[]) => part.some(({ instant }) => instant <= wanted);

  for (let url = feed.archive, part = feed.twts; url !== null && !isOldEnough(part); ) {
    if (asked.has(url) || asked.size === MAX_PARTS)
      return { twts, trouble: `The archives of the feed do not end: ${url}.` };
    asked.add(url);
    try {
      const archive = await readPart(ask, url);
      twts.push(...archive.twts);
      part = archive.twts;
      url = archive.archive;
    } catch (error) {
      if (!(error instanceof TwtxtError)) throw error;
      return { twts, trouble: `${error.message} Nobody was told that a twt is gone: it may be in that archive.` };
    }
  }
  return { twts, trouble: null };
}

/** One file of the feed. */
interface Part {
  header: FeedHeader;
  twts: ParsedTwt[];
  archive: string | null;
}

/** @throws TwtxtError where no feed is there */
async function readPart(ask: Ask, url: string): Promise<Part> {
  const response = await ask(url, { headers: { "cache-control": "no-cache" }, maxBytes: FEED_BYTES });
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

function isIdentity(url: string): boolean {
  return /^https?:\/\/[^\s#]+$/i.test(url) && URL.canParse(url);
}
