// plugin/http/followed-feeds.ts: reads the newest twts of followed feeds.
import * as v from "valibot";
import type { Clock } from "../clock.js";
import { mapInParallel } from "../concurrency.js";
import { ifTwtxtError, type TwtxtError } from "../errors.js";
import { findAuthorPage, findTwtPage } from "../feed/author-pages.js";
import type { ParsedTwt } from "../feed/feed.js";
import { twtHash, twtHashes } from "../feed/hash.js";
import { formatTimestamp } from "../feed/timestamp.js";
import { compareTexts } from "../groups.js";
import type { FollowedFeed as Followed } from "../options/follow.js";
import type { UnreadReason } from "../options/words.js";
import { plainLines, shortened } from "../site/plain-lines.js";
import type { PlainTwt, UnreadFeed } from "../site/timeline.js";
import { isFeed, parseInSlices, startsAsMarkup } from "./feed-file.js";
import { type Ask, type GuardedResponse, isTimeout } from "./guard.js";
import { TimeSlices } from "./time-slices.js";

const FEEDS_AT_ONCE = 20;
const FEED_MS = 2_000;
/** Only the newest part of a larger feed is read. */
const PART_BYTES = 512 * 1024;
const TWTS_PER_FEED = 100;
/** Twts with a time in the future that are kept until they are due. */
const FUTURE_TWTS = 10;
const TEXT_LIMIT = 1000;
/** A validator that can be sent back in a header. */
const VALIDATOR = /^[\x20-\x7e]{1,256}$/;

interface KeptTwt extends Pick<PlainTwt, "published" | "text" | "hash" | "hashV1" | "replyTo"> {
  /** As in the file. */
  timestamp: string;
}

const KEPT_FEED = v.object({
  url: v.string(),
  /** The author's page; absent for none. */
  page: v.exactOptional(v.string()),
  etag: v.nullable(v.string()),
  lastModified: v.nullable(v.string()),
  /** When the feed last answered, `YYYY-MM-DDThh:mm:ssZ`. */
  read: v.string(),
  /** Newest first. */
  twts: v.custom<KeptTwt[]>((twts) => Array.isArray(twts) && twts.every(isKeptTwt)),
});

export type KeptFeed = v.InferOutput<typeof KEPT_FEED>;

/** What is known of a followed feed. */
export interface FollowedFeed extends Followed {
  /** `null` if it was never read. */
  kept: KeptFeed | null;
  /** `null` if it could be read now. */
  reason: UnreadReason | null;
}

export interface FollowedFeedsParts {
  ask: Ask;
  now: Clock;
  /** Aborts all requests. Feeds that are not read by then count as slow. */
  signal: AbortSignal;
}

/** Checked by hand, because a schema takes ten times as long for the thousands of twts in a cache. */
function isKeptTwt(twt: unknown): boolean {
  const { timestamp, published, text, hash, hashV1, replyTo } = Object(twt) as Partial<Record<string, unknown>>;
  return [timestamp, published, text, hash, hashV1, replyTo === null ? "" : replyTo].every(
    (value) => typeof value === "string",
  );
}

/** The feeds of an earlier run, from a cache. Damaged ones are left out. */
export function parseKeptFeeds(feeds: readonly unknown[]): KeptFeed[] {
  return feeds.map((feed) => v.safeParse(KEPT_FEED, feed)).flatMap((feed) => (feed.success ? [feed.output] : []));
}

/**
 * Reads feeds, 20 at a time. Feeds that were read last time come first, so that hosts that never answer do not delay them.
 *
 * @param known - from an earlier run: unchanged feeds are not sent again, and feeds that cannot be read stay as they were
 * @returns in the order of `follow`
 */
export async function readFollowedFeeds(
  follow: readonly Followed[],
  known: readonly KeptFeed[],
  parts: FollowedFeedsParts,
): Promise<FollowedFeed[]> {
  const byUrl = new Map(known.map((feed) => [feed.url, feed]));
  const last = (feed: Followed) => byUrl.get(feed.url)?.read ?? "";
  const order = [...follow].sort((a, b) => compareTexts(last(b), last(a)));
  const read = await mapInParallel(order, FEEDS_AT_ONCE, async (feed) => ({
    ...feed,
    ...(await readFollowed(feed.url, byUrl.get(feed.url) ?? null, parts)),
  }));
  const byNick = new Map(read.map((feed) => [feed.nick, feed]));
  return follow.flatMap(({ nick }) => byNick.get(nick) ?? []);
}

async function readFollowed(url: string, kept: KeptFeed | null, { ask, now, signal }: FollowedFeedsParts) {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(FEED_MS)]);
  const feed = await readFeed(url, kept, formatTimestamp(now()), ask, deadline).catch(ifTwtxtError(toReason));
  return typeof feed === "string" ? { kept, reason: feed } : { kept: feed, reason: null };
}

function toReason(error: TwtxtError): UnreadReason {
  if (isTimeout(error)) return "slow";
  return error.code === "unreachable" || error.code === "address-refused" ? "unreachable" : "failed";
}

/** @throws TwtxtError as the guard does */
async function readFeed(url: string, kept: KeptFeed | null, read: string, ask: Ask, signal: AbortSignal) {
  const response = await ask(url, {
    maxBytes: PART_BYTES,
    isFeed: true,
    signal,
    headers: {
      accept: "text/plain, */*;q=0.5",
      ...(kept?.etag && { "if-none-match": kept.etag }),
      ...(kept?.lastModified && { "if-modified-since": kept.lastModified }),
    },
  });
  if (response.status === 200) return readContents(response, url, read, () => readEnd(url, ask, signal));
  response.close();
  if (response.status === 304 && kept) return { ...kept, read };
  return response.status === 404 || response.status === 410 ? "gone" : "failed";
}

/** @param readEnd - reads the newest twts of a large feed whose oldest come first */
async function readContents(
  { headers, start }: GuardedResponse,
  url: string,
  read: string,
  readEnd: () => Promise<ParsedTwt[] | null>,
): Promise<KeptFeed | UnreadReason> {
  const { bytes, trouble } = await start();
  if (trouble && trouble.code !== "too-large") throw trouble;
  // A feed that is cut off at the limit ends in half a line, which is dropped.
  const text = bytes.toString("utf8", 0, trouble ? bytes.lastIndexOf("\n") + 1 : bytes.length);
  const feed = await parseInSlices(text, new TimeSlices());
  if (startsAsMarkup(text) || !isFeed(feed)) return "noFeed";
  const isOldestFirst = (feed.twts[0]?.instant ?? "") < (feed.twts.at(-1)?.instant ?? "");
  const newest = trouble && isOldestFirst ? await readEnd() : null;
  const page = findAuthorPage(feed.header, url);
  return {
    url,
    ...(page && { page }),
    etag: validator(headers.etag),
    lastModified: validator(headers["last-modified"]),
    read,
    twts: newestTwts(newest ?? feed.twts, feed.header.url?.[0] ?? url, read),
  };
}

function validator(value: string | undefined): string | null {
  return value !== undefined && VALIDATOR.test(value) ? value : null;
}

/** @returns the twts in the last part of a feed; `null` if its server has no ranges */
async function readEnd(url: string, ask: Ask, signal: AbortSignal): Promise<ParsedTwt[] | null> {
  const headers = { range: `bytes=-${PART_BYTES}`, "accept-encoding": "identity" };
  const response = await ask(url, { maxBytes: PART_BYTES, isFeed: true, signal, headers });
  if (response.status !== 206) {
    response.close();
    return null;
  }
  const bytes = await response.bytes();
  return (await parseInSlices(bytes.toString("utf8", bytes.indexOf("\n") + 1), new TimeSlices())).twts;
}

/** @param now - `YYYY-MM-DDThh:mm:ssZ` */
function newestTwts(twts: readonly ParsedTwt[], feedUrl: string, now: string): KeptFeed["twts"] {
  const sorted = twts.toSorted((a, b) => compareTexts(b.instant, a.instant));
  const future = sorted.filter(({ instant }) => instant > now).slice(-FUTURE_TWTS);
  const due = sorted.filter(({ instant }) => instant <= now);
  return [...future, ...due].slice(0, TWTS_PER_FEED).map((twt) => ({
    timestamp: twt.timestamp,
    published: twt.instant,
    text: plainText(twt.text),
    hash: twtHash(feedUrl, twt),
    hashV1: twtHashes(feedUrl, twt).v1,
    replyTo: twt.subject,
  }));
}

function plainText(text: string): string {
  // Cut first, because a line may have half a megabyte.
  const lines = plainLines(text.slice(0, 4 * TEXT_LIMIT));
  return shortened(lines.join("\n").trim(), TEXT_LIMIT);
}

export function twtsOfFeeds(feeds: readonly FollowedFeed[]): PlainTwt[] {
  return feeds.flatMap(({ nick, url, kept }) => {
    const twts = kept?.twts ?? [];
    const hashes = new Map(twts.map(({ timestamp, hash }) => [timestamp, hash]));
    return twts.map(({ timestamp, ...twt }) => ({
      // Browsers ignore the second part of the fragment. It tells twts of the same second apart.
      source: `${url}#:~:text=${timestamp}${hashes.get(timestamp) === twt.hash ? "" : `&twt=${twt.hash}`}`,
      ...linkToPage(twt.text, url),
      author: { name: nick, url, ...(kept?.page && { page: kept.page }), photo: null },
      isOwn: false,
      ...twt,
    }));
  });
}

function linkToPage(text: string, feedUrl: string): { url?: string } {
  const page = findTwtPage(text, feedUrl);
  return page === null ? {} : { url: page };
}

export function unreadFeeds(feeds: readonly FollowedFeed[]): UnreadFeed[] {
  return feeds.flatMap(({ nick, url, kept, reason }) =>
    reason === null ? [] : [{ nick, url, reason, lastRead: kept?.read ?? null }],
  );
}
