// plugin/author/notes/reply.ts: the twt that a note replies to.
import * as v from "valibot";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import type { ParsedTwt } from "../../feed/feed.js";
import { twtHash, twtHashes } from "../../feed/hash.js";
import { parseReplyTo } from "../../feed/subject.js";
import { toInstant } from "../../feed/timestamp.js";
import type { Ask } from "../../http/guard.js";
import { formatReference, parseReference } from "../../mentions/reference.js";
import { type LiveFeed, readAnyFeed, readArchives } from "../../mentions/send/live-feed.js";
import { excerpt, quoteText } from "../../mentions/verify/source-text.js";
import type { HostChoice } from "../machine.js";

/** A twt by its time, as it is written in the feed. */
type TwtReference = { feedUrl: string; timestamp: string };
/** The twt that a note replies to, by its hash or by its time. */
export type Reply = { hash: string; nick: string | null; feedUrl: string } | TwtReference;

export const AnsweredTwt = v.object({
  replyTo: v.string(),
  /** The nick in its feed, or the host. */
  name: v.string(),
  /** At most 500 characters; lines are separated by LF. */
  text: v.string(),
  source: v.string(),
});
export type AnsweredTwt = v.InferOutput<typeof AnsweredTwt>;

const REFERENCE_MARK = "#:~:text=";

/**
 * Parses a hash and a feed URL, perhaps with a nick between them, or a reference.
 *
 * @returns `null` for anything else, such as the URL of a page
 * @throws TwtxtError `bad-usage` for a malformed reference
 * @example parseReply("https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z") // { feedUrl: "https://bob.example/twtxt.txt", timestamp: "2026-01-02T03:04:05Z" }
 */
export function parseReply(text: string): Reply | null {
  if (!text.includes(REFERENCE_MARK)) {
    const { hash, nick = null, feedUrl } = parseReplyTo(text) ?? {};
    return hash !== undefined && feedUrl ? { hash, nick, feedUrl } : null;
  }
  const { url, timestamps } = parseReference(text, "bad-usage");
  const [timestamp] = timestamps;
  return timestamp === undefined ? null : { feedUrl: url, timestamp };
}

/**
 * The value for the front matter: `<hash> <nick> <feed url>`. The nick is that of the feed, if it is not given and the feed
 * can be read.
 *
 * @param reply - a time is looked up in the feed and its archives
 * @throws TwtxtError `no-such-twt`, and errors of reading the feed, for a time
 */
export async function toReplyTo(reply: Reply, choice: HostChoice): Promise<string> {
  if (!("hash" in reply)) return (await answeredTwt(reply, choice)).replyTo;
  return formatReplyTo({ ...reply, nick: reply.nick ?? (await readNick(reply.feedUrl, choice)) });
}

async function readNick(feedUrl: string, choice: HostChoice): Promise<string | null> {
  const { ask } = (await import("../network.js")).createNetwork(choice);
  const reading = readAnyFeed(ask, feedUrl).then(({ nick }) => nick);
  // The hash is enough for a reply.
  return reading.catch(ifTwtxtError(() => null));
}

/**
 * Reads the twt that a note replies to from its feed.
 *
 * @param reply - a time is also looked up in the archives
 * @throws TwtxtError `no-such-twt`, and errors of reading the feed
 */
export async function answeredTwt(reply: Reply, choice: HostChoice): Promise<AnsweredTwt> {
  // Loaded on demand: most notes are not replies.
  const { ask } = (await import("../network.js")).createNetwork(choice);
  const feed = await readAnyFeed(ask, reply.feedUrl);
  const { identity, nick } = feed;
  const twt = "hash" in reply ? findByHash(reply, feed) : await findByTime(reply, feed, ask);
  const named = "hash" in reply ? reply : { hash: twtHash(identity, twt), nick: null, feedUrl: identity };
  return {
    replyTo: formatReplyTo({ ...named, nick: nick ?? named.nick }),
    name: nick ?? new URL(identity).host,
    text: excerpt(quoteText(twt.text)),
    source: formatReference(identity, twt.timestamp),
  };
}

export function formatReplyTo({ hash, nick, feedUrl }: { hash: string; nick: string | null; feedUrl: string }): string {
  return [hash, ...(nick === null ? [] : [nick]), feedUrl].join(" ");
}

function findByHash({ feedUrl, hash }: { feedUrl: string; hash: string }, { identity, twts }: LiveFeed): ParsedTwt {
  const found = twts.find((twt) => Object.values(twtHashes(identity, twt)).includes(hash));
  if (found) return found;
  throw new TwtxtError("no-such-twt", `${feedUrl} has no twt with the hash ${hash}.`);
}

async function findByTime({ feedUrl, timestamp }: TwtReference, feed: LiveFeed, ask: Ask): Promise<ParsedTwt> {
  const instant = toInstant(timestamp) ?? "";
  const isWanted = (twt: { instant: string }) => twt.instant === instant;
  const found = feed.twts.filter(isWanted);
  if (found.length === 0) found.push(...(await readArchives(ask, feed, instant)).twts.filter(isWanted));
  const [twt] = found;
  if (!twt) throw new TwtxtError("no-such-twt", `${feedUrl} has no twt at ${timestamp}.`);
  if (found.length === 1) return twt;
  throw new TwtxtError("no-such-twt", `${feedUrl} has ${found.length} twts at ${timestamp}: choose one by its hash.`);
}
