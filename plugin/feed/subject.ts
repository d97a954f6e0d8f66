// plugin/feed/subject.ts: subjects of replies.
import { canParseUrl } from "../url.js";
import { isMentionUrl, isNick } from "./mention.js";

const SUBJECT = /^[\s\u2028]*(?:@<[^<>]*>[\s\u2028]*)*\(#(?:<([A-Za-z0-9]+)(?: [^<>]*)?>|([A-Za-z0-9]+))\)/;
const REPLY = /^\(?#?([a-z2-7]{7}|[a-z2-7]{12})\)?(?:\s+(?:(\S+)\s+)?(\S+))?$/i;

/** The twt that a reply refers to, with the nick and URL of its feed if they are known. */
export interface ReplyTo {
  hash: string;
  nick: string | null;
  feedUrl: string | null;
}

/**
 * The hash in `(#hash)` or `(#<hash url>)`, after optional mentions at the start of a text.
 *
 * @returns `null` if the text is not a reply
 */
export function readSubject(text: string): string | null {
  const match = SUBJECT.exec(text);
  return match?.[1] ?? match?.[2] ?? null;
}

/**
 * The page that the front matter field `replyTo` names, such as a status on Mastodon, if it names no twt.
 *
 * @returns `null` for anything but the URL of a page; that of a text file is a feed, whose twt needs its hash
 */
export function parseReplyPage(replyTo: unknown): string | null {
  const text = typeof replyTo === "string" ? replyTo.trim() : "";
  return /^https?:\/\/[^\s#]+(?<!\.txt)$/i.test(text) && canParseUrl(text) ? text : null;
}

/**
 * Parses the front matter field `replyTo`: `<hash> <nick> <feed url>`, `<hash> <feed url>` or `<hash>`.
 *
 * @returns `null` for anything else
 * @see PROTOCOL 2.3
 */
export function parseReplyTo(text: string): ReplyTo | null {
  const [, hash, nick = null, feedUrl = null] = REPLY.exec(text.trim()) ?? [];
  if (hash === undefined || (feedUrl !== null && !isMentionUrl(feedUrl))) return null;
  if (nick !== null && !isNick(nick)) return null;
  return { hash: hash.toLowerCase(), nick, feedUrl };
}
