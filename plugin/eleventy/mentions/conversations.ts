// plugin/eleventy/mentions/conversations.ts: the conversation about each page: its mentions, and the author's own replies.
import { parseReplyPage, readSubject } from "../../feed/subject.js";
import { remember } from "../../groups.js";
import { comparableUrl } from "../../http/same-url.js";
import {
  asMention,
  Conversations,
  type Entry,
  type MentionLike,
  mentionEntry,
  mentionKey,
  type Thread,
  type TwtLike,
  toThreads,
  twtKey,
} from "../../site/conversation.js";
import type { MentionType, PublicMention } from "../../site/mention-list.js";
import type { PartName, ShownMention } from "../../site/mention-markup.js";
import { oncePerSource } from "../../site/repeated-mentions.js";
import type { PlainTwt } from "../../site/timeline.js";
import { shownMention } from "../../site/timeline-markup.js";
import type { CollectionItem } from "../eleventy.js";
import type { PublishedPost, TwtsFromPosts } from "../posts/twts-from-posts.js";

/** The mentions of a page by type. */
export interface Conversation extends Record<Exclude<PartName, "replies">, readonly PublicMention[]> {
  /** Oldest first. The other lists start with the newest. */
  replies: readonly Reply[];
}

export interface Reply extends ShownMention {
  isOwn: boolean;
  replies: readonly Reply[];
}

export interface OwnTwt extends TwtLike {
  /** Returns the twt as a reply; `null` for a deleted one. */
  reply: (() => ShownMention) | null;
}

/** Maximum number of replies under a page, and of its other mentions. The component reads the newest 500. */
const MAX_MENTIONS = 2000;
/** Maximum number of own twts in the timeline, before those without a conversation are left out. */
const MAX_OWN_TWTS = 100;

export class SiteConversations {
  readonly #conversations: Conversations;
  /** Newest first, by page. */
  readonly #mentions = new Map<string, PublicMention[]>();
  readonly #shown = new Map<string, () => ShownMention>();

  /** @param mentions - newest first */
  constructor(mentions: readonly PublicMention[], own: readonly OwnTwt[]) {
    // Most mentions share their page with others.
    const names = new Map<string, string>();
    const nameOnce = (url: string) => remember(names, url, () => normalizeName(url));
    const replies: MentionLike[] = [];
    for (const mention of mentions) {
      const { target, under } = mention;
      const pages = mention.isRemoved ? [] : [nameOnce(target), nameOnce(under ?? target)];
      for (const page of new Set(pages)) remember(this.#mentions, page, () => []).push(mention);
      if (mention.type !== "reply") continue;
      const named = withNames(mention, nameOnce);
      replies.push(named);
      this.#shown.set(mentionKey(named), () => mention);
    }
    const ownNamed = own.map((twt) => ({ ...twt, page: twt.page && normalizeName(twt.page) }));
    this.#conversations = new Conversations(replies, ownNamed);
    for (const twt of ownNamed) if (twt.replyTo !== null && twt.reply) this.#shown.set(twtKey(twt), twt.reply);
  }

  findMentions(url: string): readonly PublicMention[] {
    return this.#mentions.get(normalizeName(url)) ?? [];
  }

  /** The conversation about a page. A reply in another conversation counts as a mention of the page. */
  of(url: string): Conversation {
    if (this.#mentions.size === 0 && this.#shown.size === 0)
      return { replies: [], mentions: [], likes: [], reposts: [], bookmarks: [] };
    const page = normalizeName(url);
    const replies = this.#conversations.below(page).flatMap((entry) => {
      const mention = this.#shown.get(entry.key)?.();
      return mention ? [{ entry, mention }] : [];
    });
    const isReply = new Set<ShownMention>(replies.map(({ mention }) => mention));
    const others = this.findMentions(url).flatMap((mention) => (isReply.has(mention) ? [] : asMention(mention)));
    const shown = new Set<ShownMention>(oncePerSource<ShownMention>([...isReply, ...others]));
    const mentions = others.filter((mention) => shown.has(mention)).slice(0, MAX_MENTIONS);
    const ofType = (type: MentionType) => mentions.filter((mention) => mention.type === type);
    const threads = toThreads(
      replies
        .filter(({ mention }) => shown.has(mention))
        .slice(0, MAX_MENTIONS)
        .map(({ entry }) => entry),
    );
    return {
      replies: threads.map((thread) => this.#toReply(thread)),
      mentions: ofType("mention"),
      likes: ofType("like"),
      reposts: ofType("repost"),
      bookmarks: ofType("bookmark"),
    };
  }

  #toReply({ entry: { key }, replies }: Thread<Entry>): Reply {
    const mention = this.#shown.get(key)?.() as ShownMention;
    return { ...mention, isOwn: mention.received === null, replies: replies.map((thread) => this.#toReply(thread)) };
  }
}

/** The twts of a build. The bodies of all posts must have been rendered. */
export function listOwnTwts(twts: TwtsFromPosts, toHtml: (text: string) => string): OwnTwt[] {
  return twts.all().map((published) => {
    const { post, twt } = published;
    const { v1, v2 } = twts.toHashes(twt);
    const former = twts.aliasHashes(twt);
    const reply = () => {
      const plain = toPlainTwt(published, twts);
      return { ...shownMention({ ...plain, html: toHtml(plain.text) }), ...(former.length > 0 && { former }) };
    };
    const page = post.url ? twts.site.urls.absolute(post.url) : null;
    return { timestamp: twt.timestamp, hashes: [v1, v2, ...former], page, replyTo: answeredHash(published), reply };
  });
}

interface KnownTwts {
  own: readonly OwnTwt[];
  mentions: readonly PublicMention[];
  followed: readonly PlainTwt[];
}

/**
 * The twts that the author's own replies answer, by the URL of the reply's page. A received mention comes before the same
 * twt of a followed feed: its text was stored as HTML.
 */
export function answeredTwts({ own, mentions, followed }: KnownTwts): ReadonlyMap<string, () => ShownMention> {
  const wanted = new Set(own.flatMap(({ replyTo }) => replyTo ?? []));
  const known = new Map<string, () => ShownMention>();
  const add = (names: readonly string[], twt: () => ShownMention) => {
    for (const name of names) if (wanted.has(name) && !known.has(name)) known.set(name, twt);
  };
  if (wanted.size > 0) {
    for (const { hashes, reply } of own) if (reply) add(hashes, reply);
    for (const mention of mentions) add(mentionEntry(mention).names, () => mention);
    for (const twt of followed) add([twt.hash, twt.hashV1], () => shownMention(twt));
  }
  const answered = new Map<string, () => ShownMention>();
  for (const { page, replyTo } of own) {
    const twt = replyTo === null ? undefined : known.get(replyTo);
    if (page !== null && twt) answered.set(page, twt);
  }
  return answered;
}

/** The newest own twts, for the timeline. The bodies of their posts must have been rendered. */
export function newestOwnTwts(twts: TwtsFromPosts): PlainTwt[] {
  return twts.newest(MAX_OWN_TWTS).map((published) => toPlainTwt(published, twts));
}

function toPlainTwt(published: PublishedPost, twts: TwtsFromPosts): PlainTwt {
  const { post, twt } = published;
  const { settings, urls } = twts.site;
  const { timestamp, text, hash } = twt;
  return {
    source: post.url ? urls.absolute(post.url) : `${urls.feedUrl()}#:~:text=${timestamp}`,
    author: { name: settings.nick, url: urls.absolute("/"), photo: null },
    isOwn: true,
    text: text.replaceAll("\u2028", "\n"),
    hash,
    hashV1: twts.toHashes(twt).v1,
    replyTo: answeredHash(published),
    published: timestamp,
  };
}

/** The hash of the twt, or the URL of the page, that a post replies to, by its front matter; `null` for none. */
export function answeredHash({ post, twt }: PublishedPost): string | null {
  if (!isReply(post)) return null;
  const page = parseReplyPage(post.data.replyTo);
  return page === null ? readSubject(twt.text) : normalizeName(page);
}

/** Whether the front matter of a post has a `replyTo`. */
export function isReply({ data: { replyTo } }: CollectionItem): boolean {
  return replyTo !== undefined && replyTo !== null && replyTo !== "";
}

/** The place of a mention in its conversation, with URLs in the form in which they are compared. */
function withNames(mention: PublicMention, normalizeName: (url: string) => string): MentionLike {
  const { source, target, under, type, url, hash, hashV1, former, replyTo, published, received } = mention;
  return {
    source: normalizeName(source),
    target: normalizeName(target),
    under: under && normalizeName(under),
    replyTo: replyTo && normalizeName(replyTo),
    ...(url !== undefined && { url: normalizeName(url) }),
    ...(former && { former: former.map(normalizeName) }),
    ...{ type, hash, hashV1, published, received },
  };
}

/** A URL in the form in which URLs are compared. Hashes and references to twts stay as they are. */
function normalizeName(name: string): string {
  return name.includes("#:~:text=") ? name : (comparableUrl(name) ?? name);
}
