// plugin/author/timeline-items.ts: twts of feeds and received mentions as one list of conversations.
import { type FollowedFeed, twtsOfFeeds } from "../http/followed-feeds.js";
import { isSameUrl } from "../http/same-url.js";
import { type Entry, mentionEntry, newestThreads, type Thread } from "../site/conversation.js";
import { type Author, oncePerTwt, type PublicMention } from "../site/mention-list.js";
import { type PlainTwt, saidOf } from "../site/timeline.js";

/** A twt of a feed, or a received mention that no feed has. */
export interface TimelineItem {
  /** Unique. */
  id: string;
  source: string;
  author: Author;
  isOwn: boolean;
  text: string;
  /** `YYYY-MM-DDThh:mm:ssZ` */
  published: string;
  /** When the author could see it for the first time, in the same form. */
  since: string;
  /** What a received mention says about which page of the site; `null` for a twt of a feed. */
  mention: Pick<PublicMention, "type" | "target" | "under"> | null;
}

export type TimelineThread = Thread<Entry & { item: TimelineItem }>;

interface TimelineParts {
  feeds: readonly FollowedFeed[];
  mentions: readonly PublicMention[];
  /** The pages of the site's own twts, by hash: mentions name the page. */
  ownPages: ReadonlyMap<string, string>;
  feedUrl: string;
  /** Later twts are left out, `YYYY-MM-DDThh:mm:ssZ`. */
  now: string;
}

/** Arranges twts and mentions as conversations, the one with the newest item first. A mention that is a twt of a feed counts once. */
export function timelineThreads({ feeds, mentions, ownPages, feedUrl, now }: TimelineParts): TimelineThread[] {
  const twts = twtsOfFeeds(feeds)
    .filter(({ published }) => published <= now)
    .map((twt) => ({ ...twt, isOwn: isSameUrl(twt.author.url, feedUrl) }));
  const hashes = new Set(twts.flatMap(({ hash, hashV1 }) => [hash, hashV1]));
  const others = oncePerTwt(mentions).filter(
    ({ hash, hashV1 }) => !hashes.has(hash ?? "") && !hashes.has(hashV1 ?? ""),
  );
  return newestThreads([
    ...twts.map((twt) => twtEntry(twt, ownPages)),
    ...others.map((mention) => receivedEntry(mention, feedUrl)),
  ]);
}

/** The items of threads, each before its replies. */
export function itemsIn(threads: readonly TimelineThread[]): TimelineItem[] {
  return threads.flatMap(({ entry, replies }) => [entry.item, ...itemsIn(replies)]);
}

function twtEntry(twt: PlainTwt, ownPages: ReadonlyMap<string, string>): Entry & { item: TimelineItem } {
  const { source, author, isOwn, text, published, hash } = twt;
  const entry = mentionEntry(saidOf(twt));
  const page = isOwn ? ownPages.get(hash) : undefined;
  return {
    ...entry,
    names: page === undefined ? entry.names : [...entry.names, page],
    item: { id: hash, source, author, isOwn, text, published, since: published, mention: null },
  };
}

function receivedEntry(mention: PublicMention, feedUrl: string): Entry & { item: TimelineItem } {
  const { source, author, text, received, type, target, under, hash } = mention;
  const entry = mentionEntry(mention);
  const since = `${received.slice(0, "2026-01-01T00:00:00".length)}Z`;
  return {
    ...entry,
    item: {
      ...{ id: hash ?? encodeURIComponent(entry.key), source, author, text, since },
      ...{ isOwn: isSameUrl(author.url, feedUrl), published: entry.at, mention: { type, target, under } },
    },
  };
}
