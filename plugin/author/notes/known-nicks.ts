// plugin/author/notes/known-nicks.ts: the feeds that the author may want to mention.
import { formatMention, isMentionUrl, isNick, type Mention } from "../../feed/mention.js";
import type { FollowedFeed } from "../../options/follow.js";
import { shortMentionAt } from "../../text/markdown-mentions.js";
import type { KnownNick } from "./complete-nick.js";

/** Template languages would evaluate it when the post is built. */
const TEMPLATE_CODE = /\{[{%#]/;

/**
 * Lists the feeds that the author may want to mention: those that the site follows, then others.
 *
 * @param others - from strangers; those without a valid nick, or with a URL that cannot be mentioned, are left out
 */
export function knownNicks(followed: readonly FollowedFeed[], others: readonly Mention[]): KnownNick[] {
  const known = new Map<string, KnownNick>();
  for (const { nick, url } of [...followed, ...others]) {
    if (nick === null || !isNick(nick) || !isMentionUrl(url) || TEMPLATE_CODE.test(nick + url) || known.has(url))
      continue;
    const isResolved = shortMentionAt(`@${nick}`, 0, followed)?.url === url;
    known.set(url, { nick, url, written: isResolved ? `@${nick}` : formatMention({ nick, url }) });
  }
  return [...known.values()];
}
