// plugin/messages/inbox/list.ts: lists an inbox for its owner, in pages with cursors.
import { hash } from "node:crypto";
import { TwtxtError } from "../../errors.js";
import { firstWithin } from "../../groups.js";
import {
  type HttpRequest,
  type HttpResponse,
  json,
  matchesEtag,
  parseLimit,
  parseParameters,
} from "../../http/respond.js";
import type { Place, StoredMessage, StoredMessages } from "./stored.js";

const MAX_LIMIT = 100;
/** The value of `order` for the newest messages first. */
const NEWEST = "newest";
/** Total size of the bodies in a page. Base64 adds a third, and platforms send at most 6 MB. */
const PAGE_BYTES = 3_000_000;

/** A list and a stream have the same URL; Accept decides. */
export const PRIVATE_HEADERS = { "cache-control": "private, no-store", vary: "accept" };

/** A message in the list and the stream. Its cursor is `<created>-<id>`. */
export interface InboxItem {
  /** SHA-256 of the message's canonical form, in lower-case hex; see `canonicalForm`. */
  id: string;
  /** `YYYY-MM-DDThh:mm:ss.sssZ` */
  created: string;
  /** Base64 of the body as received. */
  payload: string;
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)-([0-9a-f]{64})$/;

/**
 * Answers `GET ?after=<cursor>&limit=<1 to 100>` with messages, oldest first, or newest first with `order=newest`.
 *
 * With `id`, lists only messages whose IDs start with this text, oldest first. `after` is strict. A message has a later time than those stored before it began to be stored, so readers poll with a cursor
 * that is a minute old. `Link: rel="next"` leads to the next page.
 * A matching `If-None-Match` costs one listing of as many keys.
 *
 * @param inboxUrl - the public URL of this inbox
 * @throws TwtxtError `bad-request`, `store-failed`
 * @see PROTOCOL 3.4
 */
export async function listMessages(
  request: HttpRequest,
  inboxUrl: string,
  user: string,
  messages: StoredMessages,
): Promise<HttpResponse> {
  const { after, ...query } = parseParameters(request.url, ["after", "limit", "order", "id"]);
  const { limit, order, id } = query;
  if (order !== undefined && order !== NEWEST) throw new TwtxtError("bad-request", `"order" can only be "${NEWEST}".`);
  const start = after === undefined ? null : parseCursor(after);
  const range = { after: start, limit: parseLimit(limit, MAX_LIMIT), isReversed: order === NEWEST };
  const found = await (id === undefined ? messages.list(user, range) : messages.findByPrefix(user, id, range));
  const page = firstWithin(found.page, PAGE_BYTES, ({ size }) => size);
  const last = found.isMore || page.length < found.page.length ? page.at(-1) : undefined;

  const headers = {
    ...PRIVATE_HEADERS,
    etag: toEtag(page, last !== undefined),
    ...(last && { link: `<${inboxUrl}?${new URLSearchParams({ after: formatCursor(last), ...query })}>; rel="next"` }),
  };
  if (matchesEtag(request, headers.etag)) return { status: 304, headers, body: null };
  if (request.method === "HEAD") {
    return { status: 200, headers: { "content-type": "application/json", ...headers }, body: null };
  }
  const bodies = await messages.bodies(page);
  const items = page.flatMap((message, i) => (bodies[i] ? [toItem(message, bodies[i])] : []));
  return json(items, { headers });
}

export function toItem({ id, created }: Place, body: Uint8Array): InboxItem {
  return { id, created: new Date(created).toISOString(), payload: Buffer.from(body).toString("base64") };
}

/** @example formatCursor({ created: 0, id: "00ff..." }) // "1970-01-01T00:00:00.000Z-00ff..." */
export function formatCursor({ created, id }: Place): string {
  return `${new Date(created).toISOString()}-${id}`;
}

/** @throws TwtxtError `bad-request` */
export function parseCursor(text: string): Place {
  const [, time = "", id] = CURSOR.exec(text) ?? [];
  const created = Date.parse(time);
  if (id !== undefined && !Number.isNaN(created)) return { created, id };
  throw new TwtxtError("bad-request", "Invalid cursor: use one that this inbox returned.");
}

/** Computed from the keys, since records never change. */
function toEtag(page: readonly StoredMessage[], isMore: boolean): string {
  const text = [...page.map(({ key }) => key), isMore ? "more" : "end"].join("\n");
  return `"${hash("sha256", text, "base64url")}"`;
}
