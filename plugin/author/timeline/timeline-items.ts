// plugin/author/timeline/timeline-items.ts: twts of feeds and received mentions as entries of conversations.
import { type FollowedFeed, twtsOfFeeds } from "../../http/followed-feeds.js";
import { isSameUrl } from "../../http/same-url.js";
import { ENGLISH } from "../../options/words.js";
import { type Entry, mentionEntry, type Thread } from "../../site/conversation.js";
import type { Author, MentionType, PublicMention } from "../../site/mention-list.js";
import { describeMention, type MentionSentence } from "../../site/mention-sentence.js";
import { oncePerTwt } from "../../site/repeated-mentions.js";
import type { PlainTwt } from "../../site/timeline.js";

/** A twt of a feed, or a received mention that no feed has. */
export interface TimelineItem {
  /** Unique. */
  id: string;
  source: string;
  /** The URL to link to instead of the source; absent for the source itself. */
  url?: string;
  /** The hash of a twt; `null` for a page. */
  hash: string | null;
  author: Author;
  isOwn: boolean;
  text: string;
  /** `YYYY-MM-DDThh:mm:ssZ` */
  published: string;
  /** When the author could see it for the first time, in the same form. */
  since: string;
  /** `twt` for a twt of a feed that is not a reply. */
  type: MentionType | "twt";
  /** What it says about a page of the site, or that it replies; `null` for another twt of a feed. */
  sentence: MentionSentence | null;
}

const REPLIED: MentionSentence = { before: ENGLISH.reply, page: null, after: "" };

type ItemEntry = Entry & { item: TimelineItem };

export type TimelineThread = Thread<ItemEntry>;

interface TimelineParts {
  feeds: readonly FollowedFeed[];
  mentions: readonly PublicMention[];
  /** The pages of the site's own twts, by hash: mentions name the page. */
  ownPages: ReadonlyMap<string, string>;
  feedUrl: string;
  /** Later twts are left out, `YYYY-MM-DDThh:mm:ssZ`. */
  now: string;
}

/** Twts and mentions as entries of conversations. A mention that is a twt of a feed counts once. */
export function timelineEntries({ feeds, mentions, ownPages, feedUrl, now }: TimelineParts): ItemEntry[] {
  const twts = feeds.flatMap((feed) => {
    const isOwn = isSameUrl(feed.url, feedUrl);
    const due = twtsOfFeeds([feed]).filter(({ published }) => published <= now);
    return due.map((twt) => twtEntry({ ...twt, isOwn }, ownPages));
  });
  const names = new Set(twts.flatMap((twt) => twt.names));
  const isKnown = (name: string | null) => name !== null && names.has(name);
  const others = oncePerTwt(mentions).filter(({ hash, hashV1 }) => !isKnown(hash) && !isKnown(hashV1));
  return [...twts, ...others.map((mention) => receivedEntry(mention, feedUrl))];
}

/** The items of conversations, each before its replies. */
export function listItems(threads: readonly TimelineThread[]): TimelineItem[] {
  return threads.flatMap(({ entry, replies }) => [entry.item, ...listItems(replies)]);
}

/** Does not call `mentionEntry`: its checks for missing fields take most of the time, and a twt of a feed has all fields. */
function twtEntry(twt: PlainTwt, ownPages: ReadonlyMap<string, string>): ItemEntry {
  const { source, url, author, isOwn, text, published, hash, hashV1, replyTo } = twt;
  const page = isOwn ? ownPages.get(hash) : undefined;
  const shownUrl = page ?? url;
  const isReply = replyTo !== null;
  return {
    key: source,
    names: [hash, hashV1, source, ...(page === undefined ? [] : [page])],
    parents: replyTo === null ? [] : [replyTo],
    at: published,
    item: {
      ...{ id: hash, source, hash, author, isOwn, text, published, since: published },
      ...{ type: isReply ? "reply" : "twt", sentence: isReply ? REPLIED : null },
      ...(shownUrl !== undefined && { url: shownUrl }),
    },
  };
}

function receivedEntry(mention: PublicMention, feedUrl: string): ItemEntry {
  const { source, url, author, text, received, type, hash } = mention;
  const entry = mentionEntry(mention);
  const since = `${received.slice(0, "2026-01-01T00:00:00".length)}Z`;
  return {
    ...entry,
    item: {
      ...{ id: hash ?? encodeURIComponent(entry.key), source, hash, author, text, since },
      ...(url !== undefined && { url }),
      ...{ isOwn: isSameUrl(author.url, feedUrl), published: entry.at },
      ...{ type, sentence: describeMention(mention, feedUrl, ENGLISH) },
    },
  };
}
