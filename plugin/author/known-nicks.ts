// plugin/author/known-nicks.ts: completes `@nick` while a note is typed.
import { isMentionUrl, isNick, type Mention } from "../feed/mention.js";
import type { FollowedFeed } from "../options/follow.js";

/** A feed that can be mentioned. */
export interface KnownNick extends FollowedFeed {
  /** What completes `@nick`: `@bob` for a followed feed, `@<bob https://bob.example/twtxt.txt>` for another one. */
  written: string;
}

/**
 * Lists the feeds that the author may want to mention: those that the site follows, then those that have mentioned it.
 *
 * @param others - from received mentions; those without a nick or with a URL that cannot be mentioned are left out
 */
export function knownNicks(followed: readonly FollowedFeed[], others: readonly Mention[]): KnownNick[] {
  const known = new Map(followed.map(({ nick, url }) => [url, { nick, url, written: `@${nick}` }]));
  for (const { nick, url } of others) {
    if (nick === null || !isNick(nick) || !isMentionUrl(url) || known.has(url)) continue;
    known.set(url, { nick, url, written: `@<${nick} ${url}>` });
  }
  return [...known.values()];
}

/**
 * The feeds whose nick starts with what is typed, whatever its case.
 *
 * @param typed - with or without `@`
 */
export function completeNick(typed: string, known: readonly KnownNick[]): KnownNick[] {
  const start = typed.replace(/^@/, "").toLowerCase();
  return known.filter(({ nick }) => nick.toLowerCase().startsWith(start));
}
