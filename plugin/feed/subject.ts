// plugin/feed/subject.ts: which twt a text replies to.
import { isMentionUrl, isNick } from "./mention.js";

const SUBJECT = /^[\s\u2028]*(?:@<[^<>]*>[\s\u2028]*)*\(#(?:<([A-Za-z0-9]+)(?: [^<>]*)?>|([A-Za-z0-9]+))\)/;
const REPLY = /^\(?#?([a-z2-7]{7}|[a-z2-7]{12})\)?(?:\s+(?:(\S+)\s+)?(\S+))?$/i;

/** A twt that is replied to, by its hash, and the feed that it stands in and whose that is, where they are known. */
export interface ReplyTo {
  hash: string;
  nick: string | null;
  feedUrl: string | null;
}

/**
 * The hash in `(#hash)` or `(#<hash url>)`, after optional mentions at the start of a text.
 *
 * @returns `null` for a text that replies to nothing
 */
export function subjectOf(text: string): string | null {
  const match = SUBJECT.exec(text);
  return match?.[1] ?? match?.[2] ?? null;
}

/**
 * Reads what an author writes of a reply: `<hash> <nick> <feed url>`, without the nick, or the hash alone.
 *
 * @returns `null` for what is neither
 * @see PROTOCOL 2.3
 */
export function parseReplyTo(text: string): ReplyTo | null {
  const [, hash, nick = null, feedUrl = null] = REPLY.exec(text.trim()) ?? [];
  if (hash === undefined || (feedUrl !== null && !isMentionUrl(feedUrl))) return null;
  if (nick !== null && !isNick(nick)) return null;
  return { hash: hash.toLowerCase(), nick, feedUrl };
}
