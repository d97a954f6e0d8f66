// plugin/mentions/inform/notice.ts: mentions as twts of the private feed.
import { formatFeed } from "../../feed/feed.js";
import { adjustForPeers } from "../../feed/peers.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { LINE_SEPARATOR } from "../../feed/twt.js";
import type { StoredMention } from "../mention.js";
import { plainName, quotedLines } from "../plain-text.js";
import { sourceOf } from "../reference.js";

/** How many mentions the feed has. */
const FEED_LIMIT = 1000;
/** Bytes of one notice. Readers stop at a line of 64 KiB, and mending the text for some of them can nearly double it. */
const NOTICE_BYTES = 32 * 1024;

/**
 * Writes the private feed: the newest 1,000 mentions, shown and held. Those that came in the same second are one notice,
 * so that a notice has the time of its mentions and none is dated ahead.
 *
 * @param mentions - all that are stored, in any order; rejected ones are left out
 * @param url - of the feed, without the token: clients put it into the replies that they publish
 * @see PROTOCOL 2.5
 */
export function formatNotices(
  { nick, url }: { nick: string; url: string },
  mentions: readonly StoredMention[],
): string {
  const told = mentions.filter(({ state }) => state !== "rejected");
  const notices = newestSeconds(bySecond(told));
  return formatFeed({
    fields: {
      nick: [`${nick}-mentions`],
      url: [url],
      description: [`Who mentions ${nick}. Keep the address of this feed to yourself.`],
    },
    twts: notices.map(([timestamp, group]) => ({ timestamp, text: textOf(group) })),
  });
}

/** Mentions by the second in which they came, oldest first. */
function bySecond(mentions: readonly StoredMention[]): Map<string, StoredMention[]> {
  const seconds = new Map<string, StoredMention[]>();
  for (const mention of mentions.toSorted(oldestFirst)) {
    const timestamp = formatTimestamp(Date.parse(mention.received));
    seconds.set(timestamp, [...(seconds.get(timestamp) ?? []), mention]);
  }
  return seconds;
}

/** The newest whole seconds that hold at most {@link FEED_LIMIT} mentions, at least one: a second never loses a part. */
function newestSeconds(seconds: Map<string, StoredMention[]>): [string, StoredMention[]][] {
  const newest: [string, StoredMention[]][] = [];
  let count = 0;
  for (const second of [...seconds].toReversed()) {
    count += second[1].length;
    if (count > FEED_LIMIT && newest.length > 0) break;
    newest.push(second);
  }
  return newest.toReversed();
}

/** As many mentions as a line has room for, at least one; the others are counted. */
function textOf(mentions: readonly StoredMention[]): string {
  const passages: string[] = [];
  let bytes = 0;
  for (const passage of mentions.map(passageOf)) {
    bytes += Buffer.byteLength(passage);
    if (bytes > NOTICE_BYTES && passages.length > 0) break;
    passages.push(passage);
  }
  const more = mentions.length - passages.length;
  if (more > 0) passages.push(`And ${more} more. To list them: eleventy-twtxt mentions`);
  return adjustForPeers(passages.join(LINE_SEPARATOR + LINE_SEPARATOR));
}

function passageOf(mention: StoredMention): string {
  const held = mention.state === "held" ? " (held)" : "";
  const lines = [`${plainName(mention)} mentioned you${held}:`, ...quotedLines(mention.text), sourceOf(mention)];
  return lines.join(LINE_SEPARATOR);
}

function oldestFirst(a: StoredMention, b: StoredMention): number {
  const [x, y] = [`${a.received} ${a.id}`, `${b.received} ${b.id}`];
  return x < y ? -1 : x > y ? 1 : 0;
}
