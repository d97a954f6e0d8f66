// plugin/mentions/send/live-mentions.ts: the mentions in this site's own twts.
import { createHash } from "node:crypto";
import type { ParsedTwt } from "../../feed/feed.js";

/** A mention of one feed or page by one twt, counted once. */
export interface LiveMention {
  /** Hash of timestamp and target, 32 hex digits. */
  pair: string;
  timestamp: string;
  instant: string;
  nick: string | null;
  /** The mention's URL without its fragment, otherwise byte for byte. */
  target: string;
  /** Hash of the twt's text, 16 hex digits. */
  text: string;
}

/**
 * Collects mentions, one for each timestamp and target. Twts with the same timestamp count as one, since a reference
 * cannot tell them apart.
 *
 * @param isOurs - whether a URL is this site's own; mentions of it are left out
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

/** The first hex digits of a text's SHA-256, for use in keys. */
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
