// plugin/mentions/inform/notice.ts: mentions as twts of the private feed.
import { formatFeed } from "../../feed/feed.js";
import { adjustForPeers } from "../../feed/peers.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { LINE_SEPARATOR } from "../../feed/twt.js";
import type { StoredMention } from "../mention.js";
import { plainName, quotedLines } from "../plain-text.js";
import { sourceOf } from "../reference.js";

/** Mentions in the feed. */
const FEED_LIMIT = 1000;
/** Bytes of one notice. Readers stop at lines of 64 KiB, and escaping for peers can nearly double the text. */
const NOTICE_BYTES = 32 * 1024;

/**
 * Formats the private feed: the newest 1,000 mentions, shown and held. Mentions of the same second share one notice, since
 * a twt's time must be unique and not in the future.
 *
 * @param mentions - all stored mentions, in any order; rejected ones are skipped
 * @param url - of the feed, without the token, since clients publish it in replies
 * @see PROTOCOL 2.5
 */
export function formatNotices(
  { nick, url }: { nick: string; url: string },
  mentions: readonly StoredMention[],
): string {
  const visible = mentions.filter(({ state }) => state !== "rejected");
  const notices = newestSeconds(bySecond(visible));
  return formatFeed({
    fields: {
      nick: [`${nick}-mentions`],
      url: [url],
      description: [`Who mentions ${nick}. Keep the address of this feed to yourself.`],
    },
    twts: notices.map(([timestamp, group]) => ({ timestamp, text: textOf(group) })),
  });
}

/** Groups mentions by the second of their arrival, oldest first. */
function bySecond(mentions: readonly StoredMention[]): Map<string, StoredMention[]> {
  const seconds = new Map<string, StoredMention[]>();
  for (const mention of mentions.toSorted(oldestFirst)) {
    const timestamp = formatTimestamp(Date.parse(mention.received));
    seconds.set(timestamp, [...(seconds.get(timestamp) ?? []), mention]);
  }
  return seconds;
}

/** The newest complete seconds with at most {@link FEED_LIMIT} mentions in all, but at least one second. */
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

/** As many mentions as fit in a line, at least one; the others are counted. */
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
