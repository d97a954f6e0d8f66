// plugin/mentions/inform/mentions-feed.ts: the author's private feed of mentions.
import { TwtxtError } from "../../errors.js";
import { formatFeed } from "../../feed/feed.js";
import { adjustForPeers } from "../../feed/peers.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { LINE_SEPARATOR } from "../../feed/twt.js";
import { firstWithin, groupBy } from "../../groups.js";
import { type Handler, type HttpRequest, type Log, methodNotAllowed, problem } from "../../http/respond.js";
import { checkSecret, isSameSecret } from "../../http/secret.js";
import { ROUTES } from "../../site/routes.js";
import type { ListMentions, StoredMention } from "../mention.js";
import { newestFirst } from "../receive/sorted-lists.js";
import { toSource } from "../reference.js";
import { plainName, quoteExcerpt } from "../verify/source-text.js";

const methods: readonly string[] = ROUTES.mentionsFeed.methods;

/** Mentions in the feed. */
const FEED_LIMIT = 1000;
/** Bytes of one notice. Readers stop at lines of 64 KiB, and escaping for peers can nearly double the text. */
const NOTICE_BYTES = 32 * 1024;

/** The oldest client, PyPI's `twtxt`, cuts a twt at its first U+2028. */
const CUTS_AT_LINE_SEPARATOR = /^twtxt\//;

/** Keeps the feed and its URL out of caches and referrers. */
const PRIVATE = {
  "cache-control": "private, no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/**
 * Serves `/mentions.txt` to requests with the token, as the password of HTTP Basic or as `?token=` for clients without
 * it. Answers 404 if no token is set, 401 `bad-token` for a wrong one. Neither token nor URL is ever logged.
 *
 * @see PROTOCOL 2.5
 */
export function mentionsFeed({ list, token, nick, url, log }: MentionsFeedParts): Handler {
  const isOn = token !== undefined && checkSecret("TWTXT_MENTIONS_TOKEN", token, "mentions.txt is", log);

  return async (request) => {
    if (!isOn) throw new TwtxtError("not-found", "There is nothing here.");
    if (!methods.includes(request.method)) return methodNotAllowed(methods);
    if (!readTokens(request).some((given) => isSameSecret(given, token))) {
      return problem(new TwtxtError("bad-token", "The token is missing or wrong."), {
        ...PRIVATE,
        "www-authenticate": 'Basic realm="mentions", charset="UTF-8"',
      });
    }
    const feed = formatNotices({ nick, url }, await readNewest(list));
    // Not cached, so the answer needs no `Vary`.
    const isCut = CUTS_AT_LINE_SEPARATOR.test(request.headers.get("user-agent") ?? "");
    const headers = { ...PRIVATE, "content-type": "text/plain; charset=utf-8" };
    const body = request.method === "HEAD" ? null : isCut ? feed.replaceAll(LINE_SEPARATOR, " ") : feed;
    return { status: 200, headers, body };
  };
}

interface MentionsFeedParts {
  list: ListMentions;
  /** `TWTXT_MENTIONS_TOKEN`. */
  token: string | undefined;
  /** The nick of the public feed. */
  nick: string;
  url: string;
  log: Log;
}

/** More mentions than the feed has, without rejected ones: the seconds in the feed are complete. */
async function readNewest(list: ListMentions): Promise<StoredMention[]> {
  const found: StoredMention[] = [];
  for (let after: string | undefined; ; ) {
    const { mentions, next } = await list({ after, limit: FEED_LIMIT + 1 });
    found.push(...mentions.filter(({ state }) => state !== "rejected"));
    const isEnough = found.length > FEED_LIMIT && toSecond(found[0]) !== toSecond(found.at(-1));
    if (next === null || isEnough) return found;
    after = next;
  }
}

/** The time of arrival, as the timestamp of a twt. */
function toSecond(mention: StoredMention | undefined): string {
  return formatTimestamp(Date.parse(mention?.received ?? ""));
}

/** The tokens of a request: from its credentials and its query. */
function readTokens(request: HttpRequest): string[] {
  const [, encoded = ""] = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  const [, ...password] = Buffer.from(encoded, "base64").toString().split(":");
  return [password.join(":"), ...new URL(request.url).searchParams.getAll("token")];
}

/**
 * Formats the private feed: the newest 1,000 mentions, shown and held. Mentions of the same second share one notice, since
 * a twt's time must be unique and not in the future.
 *
 * @param mentions - at least the newest mentions, in any order; rejected ones are skipped
 * @param url - of the feed, without the token, since clients publish it in replies
 * @see PROTOCOL 2.5
 */
export function formatNotices(
  { nick, url }: { nick: string; url: string },
  mentions: readonly StoredMention[],
): string {
  const visible = mentions.filter(({ state }) => state !== "rejected");
  const seconds = [...groupBy(visible.toSorted(newestFirst), toSecond)];
  const notices = firstWithin(seconds, FEED_LIMIT, ([, ofSecond]) => ofSecond.length).toReversed();
  return formatFeed({
    fields: {
      nick: [`${nick}-mentions`],
      url: [url],
      description: [`Mentions of ${nick}. Keep the URL of this feed secret.`],
    },
    twts: notices.map(([timestamp, group]) => ({ timestamp, text: formatTexts(group.toReversed()) })),
  });
}

/** As many mentions as fit in a line, at least one; the others are counted. */
function formatTexts(mentions: readonly StoredMention[]): string {
  const passages = firstWithin(mentions.map(formatPassage), NOTICE_BYTES, Buffer.byteLength);
  const more = mentions.length - passages.length;
  if (more > 0) passages.push(`And ${more} more. To list them: eleventy-twtxt mentions`);
  return adjustForPeers(passages.join(LINE_SEPARATOR + LINE_SEPARATOR));
}

function formatPassage(mention: StoredMention): string {
  const held = mention.state === "held" ? " (held)" : "";
  const lines = [`${plainName(mention)} mentioned you${held}:`, ...quoteExcerpt(mention.text), toSource(mention)];
  return lines.join(LINE_SEPARATOR);
}
