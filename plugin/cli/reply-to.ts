// plugin/cli/reply-to.ts: the twt that a new note replies to.
import { TwtxtError } from "../errors.js";
import { twtHash } from "../feed/hash.js";
import { parseReplyTo } from "../feed/subject.js";
import { toInstant } from "../feed/timestamp.js";
import { parseReference } from "../mentions/reference.js";
import { readArchives, readLiveFeed } from "../mentions/send/live-feed.js";
import { userAgent } from "./invocation.js";
import type { Kind } from "./options.js";

/** A twt, by its hash or by its time. */
export type Reply = { hash: string; nick: string | null; feedUrl: string } | { feedUrl: string; timestamp: string };

const MARK = "#:~:text=";

export const REPLY: Kind<Reply> = {
  name: "TWT",
  expected:
    'a hash and a feed URL, such as "abcdefg https://bob.example/twtxt.txt", or a reference, such as "https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z"',
  parse(value) {
    if (!value.includes(MARK)) {
      const { hash, nick = null, feedUrl } = parseReplyTo(value) ?? {};
      return hash !== undefined && feedUrl ? { hash, nick, feedUrl } : null;
    }
    const { url, timestamps } = parseReference(value, "bad-usage");
    const [timestamp] = timestamps;
    return timestamp === undefined ? null : { feedUrl: url, timestamp };
  },
};

/**
 * The value for the front matter: `<hash> <nick> <feed url>`, without the nick where none is known.
 *
 * @param reply - a time is looked up in the feed and its archives
 * @param allowPrivateHosts - `host:port`s in the author's own network
 * @throws TwtxtError `no-such-twt`; as reading the feed
 */
export async function replyToOf(reply: Reply, allowPrivateHosts: readonly string[]): Promise<string> {
  const { hash, nick, feedUrl } = "hash" in reply ? reply : await lookUp(reply, allowPrivateHosts);
  return [hash, ...(nick === null ? [] : [nick]), feedUrl].join(" ");
}

async function lookUp(
  { feedUrl, timestamp }: { feedUrl: string; timestamp: string },
  allowPrivateHosts: readonly string[],
) {
  // Loaded late: most notes reply to nothing.
  const { createGuard } = await import("../http/guard.js");
  const ask = createGuard({ userAgent: userAgent(), allowPrivateHosts });
  const feed = await readLiveFeed(ask, feedUrl).catch((error: unknown) => {
    // The outer error is about the author's own feed.
    throw Object(error).cause instanceof TwtxtError ? Object(error).cause : error;
  });
  const instant = toInstant(timestamp) ?? "";
  const isWanted = (twt: { instant: string }) => twt.instant === instant;
  const found = feed.twts.filter(isWanted);
  if (found.length === 0) found.push(...(await readArchives(ask, feed, instant)).twts.filter(isWanted));
  const [twt, ...others] = found;
  if (!twt) throw new TwtxtError("no-such-twt", `${feedUrl} has no twt at ${timestamp}.`);
  if (others.length > 0) {
    throw new TwtxtError("no-such-twt", `${feedUrl} has ${found.length} twts at ${timestamp}: choose one by its hash.`);
  }
  return { hash: twtHash(feed.identity, twt), nick: feed.nick, feedUrl: feed.identity };
}
