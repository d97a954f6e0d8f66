// plugin/cli/reply-to.ts: the twt that a new note replies to.
import { TwtxtError } from "../errors.js";
import { twtHash } from "../feed/hash.js";
import { parseReplyTo } from "../feed/subject.js";
import { toInstant } from "../feed/timestamp.js";
import { parseReference } from "../mentions/reference.js";
import { readArchives, readLiveFeed } from "../mentions/send/live-feed.js";
import { misuse } from "./command.js";
import { version } from "./version.js";

const MARK = "#:~:text=";

/**
 * What goes into the front matter: `<hash> <nick> <feed url>`, or without the nick where none is known.
 *
 * @param value - the same, or a reference to the twt, whose feed is read then
 * @param allowedHosts - `host:port`s that may be private
 * @throws TwtxtError `bad-usage` for what is neither; `no-such-twt`; what reading the feed throws
 */
export async function replyToOf(value: string, allowedHosts: readonly string[]): Promise<string> {
  const reply = parseReplyTo(value);
  if (reply?.feedUrl && !value.includes(MARK)) return formatReplyTo(reply.hash, reply.nick, reply.feedUrl);
  if (value.includes(MARK)) {
    const { url, timestamps } = parseReference(value, "bad-usage");
    const [timestamp] = timestamps;
    if (timestamp !== undefined) return lookUp(url, timestamp, allowedHosts);
  }
  throw misuse(
    `post: --reply-to: expected a hash and a feed URL, such as "abcdefg https://bob.example/twtxt.txt", or a reference, such as "https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z", got "${value}".`,
    "post",
  );
}

async function lookUp(feedUrl: string, timestamp: string, allowPrivateHosts: readonly string[]): Promise<string> {
  // Not before it is needed: most notes reply to nothing.
  const { createGuard } = await import("../http/guard.js");
  const ask = createGuard({ userAgent: `eleventy-plugin-twtxt/${version()}`, allowPrivateHosts });
  const feed = await readLiveFeed(ask, feedUrl).catch((error: unknown) => {
    // What it says of sending is about the author's own feed.
    throw Object(error).cause instanceof TwtxtError ? Object(error).cause : error;
  });
  const instant = toInstant(timestamp) ?? "";
  const isWanted = (twt: { instant: string }) => twt.instant === instant;
  const found = feed.twts.filter(isWanted);
  if (found.length === 0) found.push(...(await readArchives(ask, feed, instant)).twts.filter(isWanted));
  const [twt, ...others] = found;
  if (!twt) throw new TwtxtError("no-such-twt", `${feedUrl} has no twt of ${timestamp}.`);
  if (others.length > 0) {
    throw new TwtxtError("no-such-twt", `${feedUrl} has ${found.length} twts of ${timestamp}: say which by its hash.`);
  }
  return formatReplyTo(twtHash(feed.identity, twt), feed.nick, feed.identity);
}

function formatReplyTo(hash: string, nick: string | null, feedUrl: string): string {
  return [hash, ...(nick === null ? [] : [nick]), feedUrl].join(" ");
}
