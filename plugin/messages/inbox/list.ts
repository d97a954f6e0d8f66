// plugin/messages/inbox/list.ts: lists an inbox for its owner, in pages.
import { createHash } from "node:crypto";
import { json, matchesEtag, parseLimit, parseParameters } from "../../http/respond.js";
import { formatCursor, isAfter, itemOf, parseCursor } from "./item.js";
import type { StoredMessage, StoredMessages } from "./stored.js";

const MAX_LIMIT = 100;
/** Total size of the bodies in a page. Base64 adds a third, and platforms send at most 6 MB. */
const PAGE_BYTES = 3_000_000;

/** Accept decides between list and stream. */
export const PRIVATE_HEADERS = { "cache-control": "private, no-store", vary: "accept" };

/**
 * Creates the handler that lists messages, oldest first: `GET ?after=<cursor>&limit=<1 to 100>`.
 *
 * `after` is strict: a message that appears late, with an earlier time than one already listed, is only in the complete
 * list. `Link: rel="next"` leads to the next page. A matching `If-None-Match` costs one listing of keys.
 *
 * @throws TwtxtError `bad-request`, `store-failed`
 * @see PROTOCOL 3.4
 */
export function createList(messages: StoredMessages, inboxUrl: (user: string) => string) {
  return async (request: Request, user: string): Promise<Response> => {
    const { after, limit } = parseParameters(request.url, ["after", "limit"]);
    const start = after === undefined ? null : parseCursor(after);
    const stored = await messages.all(user);
    const wanted = start === null ? stored : stored.filter((message) => isAfter(message, start));
    const page = firstOf(wanted, parseLimit(limit, MAX_LIMIT));
    const last = page.length < wanted.length ? page.at(-1) : undefined;

    const headers = {
      ...PRIVATE_HEADERS,
      etag: etagOf(page, last !== undefined),
      ...(last && { link: `<${nextUrl(inboxUrl(user), last, limit)}>; rel="next"` }),
    };
    if (matchesEtag(request, headers.etag)) return new Response(null, { status: 304, headers });
    if (request.method === "HEAD") {
      return new Response(null, { headers: { "content-type": "application/json", ...headers } });
    }
    const bodies = await messages.bodies(page);
    const items = page.flatMap((message, i) => (bodies[i] ? [itemOf(message, bodies[i])] : []));
    return json(items, { headers });
  };
}

function firstOf(wanted: readonly StoredMessage[], limit: number): StoredMessage[] {
  let bytes = 0;
  const end = wanted.findIndex(({ size }, i) => {
    bytes += size;
    return i >= limit || bytes > PAGE_BYTES;
  });
  return wanted.slice(0, end < 0 ? wanted.length : end);
}

/** Computed from the keys, since records never change. */
function etagOf(page: readonly StoredMessage[], isMore: boolean): string {
  const text = [...page.map(({ key }) => key), isMore ? "more" : "end"].join("\n");
  return `"${createHash("sha256").update(text).digest("base64url")}"`;
}

function nextUrl(inbox: string, last: StoredMessage, limit: string | undefined): string {
  const url = new URL(inbox);
  url.searchParams.set("after", formatCursor(last));
  if (limit !== undefined) url.searchParams.set("limit", limit);
  return url.href;
}
