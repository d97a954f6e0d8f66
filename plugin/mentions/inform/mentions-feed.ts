// plugin/mentions/inform/mentions-feed.ts: the author's private feed of mentions.
import { createHash, timingSafeEqual } from "node:crypto";
import { TwtxtError } from "../../errors.js";
import { LINE_SEPARATOR } from "../../feed/twt.js";
import { type Handler, type Log, methodNotAllowed, problem } from "../../http/respond.js";
import { ROUTES } from "../../site/routes.js";
import type { ListMentions } from "../mention.js";
import { formatNotices } from "./notice.js";

const methods: readonly string[] = ROUTES.mentionsFeed.methods;

/** No practical limit, so that rejected mentions do not push older ones out of the feed. */
const ALL = 1_000_000;

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
  const isRight = token === undefined ? null : tokenCheck(token, log);

  return async (request) => {
    if (!isRight) throw new TwtxtError("not-found", "There is nothing here.");
    if (!methods.includes(request.method)) return methodNotAllowed(methods);
    if (!tokensOf(request).some(isRight)) return refusal();
    const { mentions } = await list({ limit: ALL });
    const feed = feedFor(request, formatNotices({ nick, url }, mentions));
    const headers = { ...PRIVATE, "content-type": "text/plain; charset=utf-8" };
    return new Response(request.method === "HEAD" ? null : feed, { headers });
  };
}

export interface MentionsFeedParts {
  list: ListMentions;
  /** `TWTXT_MENTIONS_TOKEN`. */
  token: string | undefined;
  /** The nick of the public feed. */
  nick: string;
  /** The URL of this feed without the token. */
  url: string;
  log: Log;
}

/** Adapts the feed to the client. It is not cached, so it needs no `Vary`. */
function feedFor(request: Request, feed: string): string {
  const isCut = CUTS_AT_LINE_SEPARATOR.test(request.headers.get("user-agent") ?? "");
  return isCut ? feed.replaceAll(LINE_SEPARATOR, " ") : feed;
}

/** @returns `null` for a weak token, which is logged with what to do */
function tokenCheck(token: string, log: Log): ((given: string) => boolean) | null {
  if (!isStrong(token)) {
    log(
      'TWTXT_MENTIONS_TOKEN: expected at least 22 letters, digits, "-" and "_", or 32 hex digits, such as from `openssl rand -hex 16`. mentions.txt is off until then.',
    );
    return null;
  }
  const expected = digest(token);
  return (given) => timingSafeEqual(digest(given), expected);
}

/** Whether a token has 128 bits and needs no encoding in a URL. */
function isStrong(token: string): boolean {
  return /^[A-Za-z0-9_-]{22,}$/.test(token) && (token.length >= 32 || !/^[0-9a-f]+$/i.test(token));
}

/** The tokens of a request: from its credentials and its query. */
function tokensOf(request: Request): string[] {
  const [, encoded = ""] = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  const [, ...password] = Buffer.from(encoded, "base64").toString().split(":");
  return [password.join(":"), ...new URL(request.url).searchParams.getAll("token")];
}

function refusal(): Response {
  return problem(new TwtxtError("bad-token", "The token is missing or wrong."), {
    ...PRIVATE,
    "www-authenticate": 'Basic realm="mentions", charset="UTF-8"',
  });
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
