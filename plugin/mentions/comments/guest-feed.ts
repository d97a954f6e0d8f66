// plugin/mentions/comments/guest-feed.ts: comments as twts of their guest's feed at this site. PROTOCOL 2.6
import { formatFeed } from "../../feed/feed.js";
import { hashAmong, twtHash, twtHashes } from "../../feed/hash.js";
import { formatMention, isMentionUrl, isNick } from "../../feed/mention.js";
import { LINE_SEPARATOR } from "../../feed/twt.js";
import { isKeyText } from "../../keys/key.js";
import type { StoredMention } from "../mention.js";
import { withHtml } from "../verify/source-text.js";
import type { CommentContents } from "./comment-fields.js";

/** An unsigned comment is by a guest of its own, for whom nobody can sign. */
const ANONYMOUS = /^anon-[0-9a-f]{16}$/;
/** Characters that a nick cannot have. */
const NO_NICK = /[\s@#!:<>()[\]'"`]+/g;
/** What a comment answers: a twt of the site, or a reply. */
export interface Answered {
  /** Of the post for a reply that is a page: pages have none. */
  hash: string;
  /** The URL of that page. */
  page?: string;
  author: { name: string; feed: string };
}

/** The guest of a feed: a key, or the name of an anonymous one. */
export function readGuest(feed: string): string {
  return feed.slice(feed.lastIndexOf("/") + 1, -".txt".length);
}

/** Whether a URL is that of a guest's feed. @param folder - the URL below which they are */
export function isGuestFeed(url: string, folder: string): boolean {
  const guest = readGuest(url);
  return url === `${folder}/${guest}.txt` && (ANONYMOUS.test(guest) || isKeyText(guest));
}

/** A post as what a comment answers. @param hashes - both forms, the short one first */
export function answerTwt(
  { hashes: [v1 = "", v2 = ""], timestamp }: { hashes: readonly string[]; timestamp: string },
  author: Answered["author"],
): Answered {
  return { hash: hashAmong({ v1, v2 }, timestamp), author };
}

/** Where a comment stands. */
interface CommentPlace {
  feed: string;
  timestamp: string;
  /** `null` for a page that is no post. */
  answered: Answered | null;
}

/** The properties of a comment that follow from its words. @param html - of an imported one; default: that of the text */
export async function toTwt(
  { text, name, site, html: given }: CommentContents & { html?: string },
  { feed, timestamp, answered }: CommentPlace,
) {
  const whole = answered ? `(#${answered.hash}) ${mentionAuthor(answered)}${text}` : text;
  const hashes = hashComment(feed, { timestamp, text: whole });
  // As HTML without the mention: the place of a comment says whom it answers.
  const { html } = await withHtml({ text, html: given ?? null, hash: hashes.hash });
  const author = { name, url: feed, ...(site !== null && { page: site }), photo: null, guest: true } as const;
  return { author, text: whole, html, ...hashes, subject: answered?.page ?? answered?.hash ?? null };
}

/** The hashes of a comment. @param text - lines are separated by LF */
export function hashComment(feed: string, { timestamp, text }: { timestamp: string; text: string }) {
  const twt = { timestamp, text: text.replaceAll("\n", LINE_SEPARATOR) };
  return { hash: twtHash(feed, twt), hashV1: twtHashes(feed, twt).v1 };
}

function mentionAuthor({ author: { name, feed } }: Answered): string {
  return isMentionUrl(feed) ? `${formatMention({ nick: toNick(name), url: feed })} ` : "";
}

function toNick(name: string): string {
  const nick = name.replace(NO_NICK, "-").replace(/^-+|-+$/g, "");
  return isNick(nick) ? nick : "guest";
}

/** Writes the feed of a guest. @param comments - those that are shown, oldest first, at least one */
export function formatGuestFeed(comments: readonly StoredMention[], url: string): string {
  const name = comments.at(-1)?.author.name ?? "";
  // Without words: the site may be in any language.
  const description = [new URL(url).host];
  const twts = comments.map(({ timestamp, text }) => ({ timestamp: timestamp ?? "", text }));
  return formatFeed({ fields: { nick: [toNick(name)], url: [url], description }, twts });
}
