// plugin/site/timeline.ts: the newest twts of the followed feeds, with the site's own twts of the same conversations.
import * as v from "valibot";
import { compareTexts } from "../groups.js";
import type { UnreadReason } from "../options/words.js";
import { type Entry, mentionEntry, newestThreads, type Thread } from "./conversation.js";
import { AUTHOR } from "./mention-list.js";

const MAX_TWTS = 200;

/** A twt of a followed feed or of the site's own, before its text is converted to HTML. */
export const PLAIN_TWT = v.object({
  /** A reference to the twt; for an own twt, the URL of its page if it has one. */
  source: v.string(),
  /** The page of a followed feed's twt; absent for none. */
  url: v.exactOptional(v.string()),
  author: AUTHOR,
  isOwn: v.boolean(),
  /** At most 1,000 characters; lines are separated by LF. */
  text: v.string(),
  /** Its hash, and the short form that most clients know. */
  hash: v.string(),
  hashV1: v.string(),
  /** The hash of the twt that it replies to; `null` for none. */
  replyTo: v.nullable(v.string()),
  /** `YYYY-MM-DDThh:mm:ssZ` */
  published: v.string(),
});

export type PlainTwt = v.InferOutput<typeof PLAIN_TWT>;

export interface TimelineTwt extends PlainTwt {
  /** The text as HTML of `p`, `a`, `code`, `em`, `strong` and `br`. */
  html: string;
}

/** A followed feed that could not be read. Its twts are those of the last time. */
export interface UnreadFeed {
  nick: string;
  url: string;
  reason: UnreadReason;
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` for never. */
  lastRead: string | null;
}

/** The response of `GET /timeline.json`. */
export interface Timeline {
  /** When the feeds were read, `YYYY-MM-DDThh:mm:ssZ`. */
  updated: string;
  /** Newest first. */
  twts: TimelineTwt[];
  unread: UnreadFeed[];
}

/**
 * Selects the newest 200 twts of followed feeds, and the own twts of the same conversations, newest first.
 *
 * @param now - later twts are left out, `YYYY-MM-DDThh:mm:ssZ`
 */
export function selectTwts(followed: readonly PlainTwt[], own: readonly PlainTwt[], now: string): PlainTwt[] {
  const due = followed.filter(({ published }) => published <= now);
  const newest = due.toSorted(byTime).slice(0, MAX_TWTS);
  const entries = [...newest, ...own].map((twt) => ({
    ...mentionEntry({ ...twt, target: "", under: null, received: null }),
    twt,
  }));
  return newestThreads(entries)
    .map(listTwts)
    .filter((twts) => twts.some(({ isOwn }) => !isOwn))
    .flat()
    .sort(byTime);
}

function listTwts({ entry, replies }: Thread<Entry & { twt: PlainTwt }>): PlainTwt[] {
  return [entry.twt, ...replies.flatMap(listTwts)];
}

function byTime(a: PlainTwt, b: PlainTwt): number {
  return compareTexts(b.published, a.published);
}
