// plugin/mentions/inform/mentions-feed.ts: the author's private feed of who mentions them.
import { createHash, timingSafeEqual } from "node:crypto";
import { TwtxtError } from "../../errors.js";
import { LINE_SEPARATOR } from "../../feed/twt.js";
import { type Handler, type Log, methodNotAllowed, problem } from "../../http/respond.js";
import { ROUTES } from "../../site/routes.js";
import type { ListMentions } from "../mention.js";
import { formatNotices } from "./notice.js";

const methods: readonly string[] = ROUTES.mentionsFeed.methods;

/** More than any site has: rejected mentions among the newest must not push older ones out of the feed. */
const ALL = 1_000_000;

/** The oldest client, PyPI's `twtxt`, cuts a twt at its first U+2028. */
const CUTS_AT_LINE_SEPARATOR = /^twtxt\//;

/** For the author's eyes alone, and for no cache, log or site that is linked to. */
const PRIVATE = {
  "cache-control": "private, no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/**
 * Serves `/mentions.txt` to whoever knows the token: as the password of HTTP Basic, or as `?token=` for clients that
 * know nothing else. 404 without a token, 401 `bad-token` for another one. Neither it nor a request's URL is ever logged.
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
  /** The author's, of the public feed. */
  nick: string;
  /** Where the feed is served, without the token. */
  url: string;
  log: Log;
}

/** The feed as the client can read it. No cache keeps it, so it needs no `Vary`. */
function feedFor(request: Request, feed: string): string {
  const isCut = CUTS_AT_LINE_SEPARATOR.test(request.headers.get("user-agent") ?? "");
  return isCut ? feed.replaceAll(LINE_SEPARATOR, " ") : feed;
}

/** @returns `null` for a token that could be guessed, after a line that says what to do */
function tokenCheck(token: string, log: Log): ((given: string) => boolean) | null {
  if (!isStrong(token)) {
    log(
      'TWTXT_MENTIONS_TOKEN: expected at least 22 letters, digits, "-" and "_", or 32 hex digits, such as `openssl rand -hex 16` prints. Until then there is no mentions.txt.',
    );
    return null;
  }
  const expected = digest(token);
  return (given) => timingSafeEqual(digest(given), expected);
}

/** Long enough for 128 bits, and the same in a URL as in a password. */
function isStrong(token: string): boolean {
  return /^[A-Za-z0-9_-]{22,}$/.test(token) && (token.length >= 32 || !/^[0-9a-f]+$/i.test(token));
}

/** What the request has to show, in both of its places. */
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
