// plugin/site/mention-list.ts: the public list of mentions, `/mentions.json`.
import * as v from "valibot";

export const MENTION_TYPES = ["mention", "reply", "like", "repost", "bookmark"] as const;

export type MentionType = (typeof MENTION_TYPES)[number];

export const AUTHOR = v.object({
  name: v.string(),
  url: v.string(),
  /** Their page on the feed's host, if `url` is a feed that names one; absent otherwise. */
  page: v.exactOptional(v.string()),
  photo: v.nullable(v.string()),
  /** Of a comment by a reader without a site; `page` is any URL that the reader states. */
  guest: v.exactOptional(v.literal(true)),
});

export type Author = v.InferOutput<typeof AUTHOR>;

const orNull = v.nullable(v.string());

const MENTION = v.object({
  /** A reference to a twt, or a page. */
  source: v.string(),
  /** The URL to show instead of the source: the page of a twt, or a post on Mastodon; absent for the source itself. */
  url: v.exactOptional(v.string()),
  /** The mentioned URL of this site. */
  target: v.string(),
  /** A post that the mention is also about, in addition to its target; `null` for none. */
  under: orNull,
  /** The title of `under`, or else of `target`; absent if unknown, and for the feed. */
  title: v.exactOptional(v.string()),
  type: v.picklist(MENTION_TYPES),
  author: AUTHOR,
  /** At most 5,000 characters; lines are separated by LF. */
  text: v.string(),
  /** The text as HTML of `SAFE_ELEMENTS`; `null` if it was received by an earlier version. */
  html: orNull,
  /** The hash of its twt, and the short form that most clients know; `null` for a page. */
  hash: orNull,
  hashV1: orNull,
  /** Hashes and URLs of its earlier versions, which answers may name. */
  former: v.exactOptional(v.array(v.string())),
  /** The hash or URL that it replies to; `null` for none. */
  replyTo: orNull,
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` if unknown. */
  published: orNull,
  received: v.string(),
  /** The empty place of a reply that is no longer shown and has answers. It has no text and no author. */
  isRemoved: v.exactOptional(v.literal(true)),
});

/** The public part of a mention. PROTOCOL 2.4, "The answer". */
export type PublicMention = v.InferOutput<typeof MENTION>;

/** A comment as its reader sees it: `GET /comments`. PROTOCOL 2.6 */
export interface OwnComment extends PublicMention {
  id: string;
  /** `held`, `shown` or `rejected`. */
  state: string;
  /** What the reader has typed, as is the text. */
  name: string;
  site: string | null;
  /** The number of shown answers. */
  answers: number;
}

const LIST = v.object({
  /** Newest first. */
  mentions: v.array(MENTION),
  /** Cursor for the parameter `after`; `null` on the last page. */
  next: orNull,
  /** The URLs of copies that the site has posted on other networks, by page, in the list of all mentions; absent for none. */
  syndication: v.exactOptional(v.record(v.string(), v.array(v.string()))),
});

/** The response of `GET /mentions.json`. */
export type MentionList = v.InferOutput<typeof LIST>;

/** @returns `null` for anything else */
export function parseMentionList(json: unknown): MentionList | null {
  const result = v.safeParse(LIST, json);
  return result.success ? result.output : null;
}
