// plugin/mentions/comments/guest-feed.ts: comments as twts of their guest's feed at this site. PROTOCOL 2.6
import { formatFeed } from "../../feed/feed.js";
import { twtHash, twtHashes } from "../../feed/hash.js";
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
/** What a comment's twt has before the words of the reader. */
const START = /^\(#\w+\) (?:@<[^<>]*> )?/;

/** What a comment answers: a twt of the site, or a reply. */
export interface Answered {
  hash: string;
  author: { name: string; feed: string };
}

/** Whether a text is a guest: a key, or the name of an anonymous one. */
export function isGuest(text: string): boolean {
  return ANONYMOUS.test(text) || isKeyText(text);
}

/** The properties of a comment that follow from its words. */
export async function toTwt(
  { text, name, site }: CommentContents,
  { feed, timestamp, answered }: { feed: string; timestamp: string; answered: Answered },
) {
  const whole = `(#${answered.hash}) ${mentionAuthor(answered)}${text}`;
  const twt = { timestamp, text: whole.replaceAll("\n", LINE_SEPARATOR) };
  const hash = twtHash(feed, twt);
  // As HTML without the mention: the place of a comment says whom it answers.
  const { html } = await withHtml({ text, html: null, hash });
  const author = { name, url: feed, ...(site !== null && { page: site }), photo: null, guest: true } as const;
  return { author, text: whole, html, hash, hashV1: twtHashes(feed, twt).v1, subject: answered.hash };
}

function mentionAuthor({ author: { name, feed } }: Answered): string {
  return isMentionUrl(feed) ? `${formatMention({ nick: toNick(name), url: feed })} ` : "";
}

/** The words of a comment as its reader has typed them. */
export function readTyped({ text }: Pick<StoredMention, "text">): string {
  return text.replace(START, "");
}

function toNick(name: string): string {
  const nick = name.replace(NO_NICK, "-").replace(/^-+|-+$/g, "");
  return isNick(nick) ? nick : "guest";
}

/** Writes the feed of a guest. @param comments - those that are shown, oldest first, at least one */
export function formatGuestFeed(comments: readonly StoredMention[], url: string): string {
  const name = comments.at(-1)?.author.name ?? "";
  const description = [`Comments by a reader of ${new URL(url).host}`];
  const twts = comments.map(({ timestamp, text }) => ({ timestamp: timestamp ?? "", text }));
  return formatFeed({ fields: { nick: [toNick(name)], url: [url], description }, twts });
}
