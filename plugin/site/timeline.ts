// plugin/site/timeline.ts: the newest twts of the followed feeds, with the site's own twts of the same conversations.
import type { UnreadReason } from "../options/words.js";
import { type Entry, mentionEntry, newestThreads, type Thread } from "./conversation.js";
import type { Author } from "./mention-list.js";
import type { Said } from "./mention-markup.js";

/** Maximum number of twts of followed feeds. */
const MAX_TWTS = 200;

/** A twt of a followed feed or of the site's own. */
export interface TimelineTwt {
  /** A reference to the twt; for an own twt, the URL of its page if it has one. */
  source: string;
  author: Author;
  isOwn: boolean;
  /** At most 1,000 characters; lines are separated by LF. */
  text: string;
  /** The text as HTML of `p`, `a`, `code`, `em`, `strong` and `br`. */
  html: string;
  /** Its hash, and the short form that most clients know. */
  hash: string;
  hashV1: string;
  /** The hash of the twt that it replies to; `null` for none. */
  replyTo: string | null;
  /** `YYYY-MM-DDThh:mm:ssZ` */
  published: string;
}

export type PlainTwt = Omit<TimelineTwt, "html">;

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
  const entries = [...newest, ...own].map((twt) => ({ ...mentionEntry(saidOf(twt)), twt }));
  return newestThreads(entries)
    .map(twtsIn)
    .filter((twts) => twts.some(({ isOwn }) => !isOwn))
    .flat()
    .sort(byTime);
}

function twtsIn({ entry, replies }: Thread<Entry & { twt: PlainTwt }>): PlainTwt[] {
  return [entry.twt, ...replies.flatMap(twtsIn)];
}

function byTime(a: PlainTwt, b: PlainTwt): number {
  return a.published < b.published ? 1 : Number(a.published > b.published) * -1;
}

/** A twt in the form of a mention, for its markup. */
export function saidOf(twt: PlainTwt & { html?: string }): Said {
  const { source, author, isOwn, text, html = null, hash, hashV1, replyTo, published } = twt;
  return {
    ...{ source, author, text, html, hash, hashV1, replyTo, published },
    target: "",
    under: null,
    type: replyTo === null ? "twt" : "reply",
    received: isOwn ? null : published,
  };
}
