// plugin/author/reply.ts: the twt that a note replies to.
import { TwtxtError } from "../errors.js";
import { twtHash } from "../feed/hash.js";
import { toInstant } from "../feed/timestamp.js";
import { readArchives, readLiveFeed } from "../mentions/send/live-feed.js";
import { userAgent } from "./invocation.js";

/** A twt by its time, as it is written in the feed. */
export type TwtReference = { feedUrl: string; timestamp: string };
/** The twt that a note replies to, by its hash or by its time. */
export type Reply = { hash: string; nick: string | null; feedUrl: string } | TwtReference;

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
  const feed = await readLiveFeed(ask, feedUrl).catch((error: unknown) => {
    // The message of the outer error is for the author's own feed.
    throw Object(error).cause instanceof TwtxtError ? Object(error).cause : error;
  });
  const instant = toInstant(timestamp) ?? "";
  const isWanted = (twt: { instant: string }) => twt.instant === instant;
  const found = feed.twts.filter(isWanted);
  if (found.length === 0) found.push(...(await readArchives(ask, feed, instant)).twts.filter(isWanted));
  const [twt] = found;
  if (!twt) throw new TwtxtError("no-such-twt", `${feedUrl} has no twt at ${timestamp}.`);
  if (found.length === 1) return { hash: twtHash(feed.identity, twt), nick: feed.nick, feedUrl: feed.identity };
  throw new TwtxtError("no-such-twt", `${feedUrl} has ${found.length} twts at ${timestamp}: choose one by its hash.`);
}
