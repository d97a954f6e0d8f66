// plugin/mentions/inform/notice.ts: a mention as a twt of the private feed.
import { formatFeed } from "../../feed/feed.js";
import { mendForPeers } from "../../feed/peers.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { LINE_SEPARATOR } from "../../feed/twt.js";
import type { StoredMention } from "../mention.js";
import { plainName, quotedLines } from "../plain-text.js";
import { sourceOf } from "../reference.js";

/** How many notices the feed has. */
const FEED_LIMIT = 1000;

/**
 * Writes the private feed: the newest 1,000 mentions, shown and held.
 *
 * @param mentions - all that are stored, in any order. Rejected ones keep their second, so that a decision of the
 *   author's moves no other notice.
 * @param url - of the feed, without the token: clients put it into the replies that they publish
 * @see PROTOCOL 2.5
 */
export function formatNotices(
  { nick, url }: { nick: string; url: string },
  mentions: readonly StoredMention[],
): string {
  const told = inSeconds(mentions).filter(({ mention }) => mention.state !== "rejected");
  return formatFeed({
    fields: {
      nick: [`${nick}-mentions`],
      url: [url],
      description: [`Who mentions ${nick}. Keep the address of this feed to yourself.`],
    },
    twts: told.slice(-FEED_LIMIT).map(({ timestamp, mention }) => ({ timestamp, text: textOf(mention) })),
  });
}

/**
 * Mentions and when they came, oldest first. Two never share a second: the later one takes the next that is free, and so
 * moves none that was there before.
 */
function inSeconds(mentions: readonly StoredMention[]): { timestamp: string; mention: StoredMention }[] {
  let last = Number.NEGATIVE_INFINITY;
  return mentions.toSorted(oldestFirst).map((mention) => {
    last = Math.max(Math.floor(Date.parse(mention.received) / 1000), last + 1);
    return { timestamp: formatTimestamp(last * 1000), mention };
  });
}

function textOf(mention: StoredMention): string {
  const held = mention.state === "held" ? " (held)" : "";
  const lines = [`${plainName(mention)} mentioned you${held}:`, ...quotedLines(mention.text), sourceOf(mention)];
  return mendForPeers(lines.join(LINE_SEPARATOR));
}

function oldestFirst(a: StoredMention, b: StoredMention): number {
  const [x, y] = [`${a.received} ${a.id}`, `${b.received} ${b.id}`];
  return x < y ? -1 : x > y ? 1 : 0;
}
