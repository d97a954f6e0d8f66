// plugin/mentions/send/live-mentions.ts: whom the twts of our own feed mention.
import { createHash } from "node:crypto";
import type { ParsedTwt } from "../../feed/feed.js";

/** A twt mentions a feed. However often it does, this is one. */
export interface LiveMention {
  /** Names the timestamp and the target: 32 hex digits. */
  pair: string;
  timestamp: string;
  instant: string;
  nick: string | null;
  /** The mention's URL less its fragment, otherwise byte for byte. */
  target: string;
  /** Names the text of the twt: 16 hex digits. */
  text: string;
}

/**
 * The mentions of some twts, one for each timestamp and target. Twts of one timestamp count as one, since a reference
 * cannot tell them apart.
 *
 * @param isOurs - whether a URL is our own feed or page: nobody is told of those
 * @see PROTOCOL 2.3
 */
export function liveMentions(twts: readonly ParsedTwt[], isOurs: (url: string) => boolean): LiveMention[] {
  const found = new Map<string, LiveMention>();
  for (const [timestamp, same] of byTimestamp(twts)) {
    const text = shortHash(same.map((twt) => twt.text).join("\n"), 16);
    for (const { instant, mentions } of same) {
      for (const { nick, url } of mentions) {
        const target = url.replace(/#.*$/s, "");
        const pair = shortHash(`${timestamp}\n${target}`, 32);
        if (!found.has(pair) && !isOurs(target)) found.set(pair, { pair, timestamp, instant, nick, target, text });
      }
    }
  }
  return [...found.values()];
}

/** Names something in a key: the first hex digits of its SHA-256. */
export function shortHash(text: string, digits: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}

function byTimestamp(twts: readonly ParsedTwt[]): Map<string, ParsedTwt[]> {
  const groups = new Map<string, ParsedTwt[]>();
  for (const twt of twts) {
    const group = groups.get(twt.timestamp);
    if (group) group.push(twt);
    else groups.set(twt.timestamp, [twt]);
  }
  return groups;
}
