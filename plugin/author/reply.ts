// plugin/author/reply.ts: the twt that a note replies to.
import { TwtxtError } from "../errors.js";
import { twtHash } from "../feed/hash.js";
import { parseReplyTo } from "../feed/subject.js";
import { toInstant } from "../feed/timestamp.js";
import { parseReference } from "../mentions/reference.js";
import { readAnyFeed, readArchives } from "../mentions/send/live-feed.js";
import { userAgent } from "./invocation.js";

/** A twt by its time, as it is written in the feed. */
export type TwtReference = { feedUrl: string; timestamp: string };
/** The twt that a note replies to, by its hash or by its time. */
export type Reply = { hash: string; nick: string | null; feedUrl: string } | TwtReference;

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
 * The value for the front matter: `<hash> <nick> <feed url>`, without an unknown nick.
 *
 * @param reply - a time is looked up in the feed and its archives
 * @param allowPrivateHosts - `host:port`s in the author's own network
 * @throws TwtxtError `no-such-twt`, and errors of reading the feed
 */
export async function replyToOf(reply: Reply, allowPrivateHosts: readonly string[]): Promise<string> {
  const { hash, nick, feedUrl } = "hash" in reply ? reply : await lookUp(reply, allowPrivateHosts);
  return [hash, ...(nick === null ? [] : [nick]), feedUrl].join(" ");
}

async function lookUp({ feedUrl, timestamp }: TwtReference, allowPrivateHosts: readonly string[]) {
  // Loaded on demand: most notes are not replies.
  const { createGuard } = await import("../http/guard.js");
  const ask = createGuard({ userAgent: userAgent(), allowPrivateHosts });
  const feed = await readAnyFeed(ask, feedUrl);
  const instant = toInstant(timestamp) ?? "";
  const isWanted = (twt: { instant: string }) => twt.instant === instant;
  const found = feed.twts.filter(isWanted);
  if (found.length === 0) found.push(...(await readArchives(ask, feed, instant)).twts.filter(isWanted));
  const [twt] = found;
  if (!twt) throw new TwtxtError("no-such-twt", `${feedUrl} has no twt at ${timestamp}.`);
  if (found.length === 1) return { hash: twtHash(feed.identity, twt), nick: feed.nick, feedUrl: feed.identity };
  throw new TwtxtError("no-such-twt", `${feedUrl} has ${found.length} twts at ${timestamp}: choose one by its hash.`);
}
