// plugin/mentions/networks/mastodon.ts: the API of Mastodon, which GoToSocial, Pleroma, Akkoma and others have, too: statuses and their threads.
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { toInstant } from "../../feed/timestamp.js";
import { escapeHtml } from "../../site/html.js";
import type { Author } from "../../site/mention-list.js";
import { canParseUrl, decodePercent, isSameHost } from "../../url.js";
import { webUrlOrNull } from "../../web-url.js";
import type { Answer, Copy, ReadThread, ThreadParts } from "./network.js";
import { ifRefused, NetworkServer, REACTIONS_PER_PAGE, readReactions, selectValid } from "./network-json.js";

/** A thread of 4,096 replies, the most that Mastodon sends. */
const CONTEXT_BYTES = 24 * 2 ** 20;
/** Mastodon sends this many replies to a request without a token. */
const ANONYMOUS_REPLIES = 60;
/** More than any server sends. */
const MAX_REPLIES_SENT = 5000;
/** Custom emojis in names, which are pictures on their server. */
const EMOJI = /:[a-z0-9_]{2,}:/gi;
const NO_BOTS = /#nobots?\b/i;

const REACTIONS = { like: "favourited_by", repost: "reblogged_by" };

export const MastodonAccount = v.object({
  id: v.string(),
  /** `bob`, or `bob@other.example` on another server. */
  acct: v.string(),
  url: v.string(),
  display_name: v.optional(v.string(), ""),
  avatar: v.nullish(v.string()),
  /** The profile's text as HTML. */
  note: v.nullish(v.string()),
  noindex: v.nullish(v.boolean()),
  suspended: v.nullish(v.boolean()),
});
export type MastodonAccount = v.InferOutput<typeof MastodonAccount>;

export const MastodonStatus = v.object({
  id: v.string(),
  uri: v.string(),
  url: v.nullish(v.string()),
  created_at: v.string(),
  account: MastodonAccount,
  /** HTML. */
  content: v.string(),
  spoiler_text: v.optional(v.string(), ""),
  visibility: v.string(),
  in_reply_to_id: v.nullish(v.string()),
  favourites_count: v.optional(v.number(), 0),
  reblogs_count: v.optional(v.number(), 0),
});
export type MastodonStatus = v.InferOutput<typeof MastodonStatus>;

const Context = v.object({ descendants: v.array(v.unknown()) });
const Accounts = v.array(v.unknown());

export function toStatusPath({ id }: { id: string }): string {
  return `/api/v1/statuses/${encodeURIComponent(id)}`;
}

/** The paths of statuses: Mastodon; Mastodon's web client; GoToSocial; Akkoma; Pleroma; Pixelfed. */
const STATUS_PATHS =
  /^\/(?:(?:web\/)?@[^/]+|users\/[^/]+\/statuses|(?:web|deck)\/statuses|@[^/]+\/(?:statuses|posts)|notice|p\/[^/]+)\/([A-Za-z0-9]+)\/?$/;

/** @returns `null` for anything but the page of a status */
export function parseStatusUrl(url: string): Copy | null {
  if (!canParseUrl(url)) return null;
  const { origin, protocol, pathname } = new URL(url);
  const [, id] = STATUS_PATHS.exec(decodePercent(pathname) ?? "") ?? [];
  return id !== undefined && /^https?:$/.test(protocol) ? { network: "mastodon", url, server: origin, id } : null;
}

/** @throws TwtxtError also `bad-source` if the ID is that of another status */
export const readMastodonThread: ReadThread = async (copy, parts) => {
  const found = await findStatus(copy, parts);
  if (!found || !["public", "unlisted"].includes(found.status.visibility)) return null;
  const { server, status } = found;
  const path = toStatusPath(status);
  const { value: context } = await server.request(`${path}/context`, Context, { maxBytes: CONTEXT_BYTES });
  const counts = { like: status.favourites_count, repost: status.reblogs_count };
  const { reactions, hasAll } = await readReactions(counts, async (type, page) => {
    const query = page || `limit=${REACTIONS_PER_PAGE}`;
    const { value, headers } = await server.request(`${path}/${REACTIONS[type]}?${query}`, Accounts);
    const authors = selectValid(MastodonAccount, value).flatMap((account) => toAccount(account) ?? []);
    const [, next = null] = /<[^<>?]*\?([^<>]*)>\s*;\s*rel="?next\b/i.exec(headers.link ?? "") ?? [];
    return { found: authors.map((author) => ({ author, published: null })), next: value.length === 0 ? null : next };
  });
  const hasAllReplies = server.token !== undefined || context.descendants.length < ANONYMOUS_REPLIES;
  const statuses = selectValid(MastodonStatus, context.descendants.slice(0, MAX_REPLIES_SENT));
  return {
    published: toInstant(status.created_at),
    replies: toReplies(statuses, parts.isUnlistedWanted),
    reactions,
    hasAll: { reply: hasAllReplies, ...hasAll },
  };
};

/** With the author's token, if it may read: then the server sends longer threads. @returns `null` for no such status */
async function findStatus(copy: Copy, { token, ...parts }: ThreadParts) {
  const find = async (server: NetworkServer) => {
    const answer = await server.request(toStatusPath(copy), MastodonStatus).catch(ifRefused(null, 401, 403, 404, 410));
    return answer && { server, status: answer.value };
  };
  const asAuthor = token === undefined ? null : await find(new NetworkServer(copy.server, parts, token));
  const found = asAuthor ?? (await find(new NetworkServer(copy.server, parts)));
  if (!found || isNamed(found.status, copy)) return found;
  const { url, uri } = found.status;
  throw new TwtxtError("bad-source", `${copy.url} has the ID of another status, ${url ?? uri}.`);
}

/** Whether the URL names the account of a status, or none: an ID means another status on another server. */
function isNamed({ account }: MastodonStatus, { url }: Copy): boolean {
  const { host, pathname } = new URL(url);
  const [, name] = /^\/(?:web\/)?(?:@|%40|users\/|p\/)([^/]+)\//i.exec(pathname) ?? [];
  if (name === undefined) return true;
  const [acct, named] = [account.acct, decodeURIComponent(name)].map((each) => each.toLowerCase());
  return acct === named || `${acct}@${host}` === named;
}

function toReplies(statuses: readonly MastodonStatus[], isUnlistedWanted: boolean): Answer[] {
  const replies: Answer[] = [];
  /** The URLs of the nearest shown replies, by the IDs of these and of the hidden ones below, whose URLs must not be told. */
  const shown = new Map<string, string | null>();
  for (const status of statuses.toSorted((a, b) => a.created_at.localeCompare(b.created_at))) {
    const replyTo = shown.get(status.in_reply_to_id ?? "") ?? null;
    const url = findPage(status);
    const author = toAccount(status.account);
    const isPublic = status.visibility === "public" || (isUnlistedWanted && status.visibility === "unlisted");
    const isShown = url !== null && author !== null && isPublic;
    shown.set(status.id, isShown ? url : replyTo);
    if (!isShown) continue;
    const warning = status.spoiler_text === "" ? "" : `<p><strong>${escapeHtml(status.spoiler_text)}</strong></p>`;
    const html = `${warning}${status.content}`;
    replies.push({ type: "reply", url, author, html, published: toInstant(status.created_at), replyTo });
  }
  return replies;
}

/**
 * The page of a status. Servers check that a status has the host of its `uri`, but anyone can claim the `url` of someone
 * else's status.
 */
function findPage({ url, uri, account }: MastodonStatus): string | null {
  const [page = null, ...own] = [url ?? uri, uri, account.url].map((each) => webUrlOrNull(each));
  const isOwn = page !== null && own.some((each) => each !== null && isSameHost(page, each));
  return isOwn ? page : webUrlOrNull(uri);
}

/** @returns `null` for one that does not want to be found */
function toAccount({ url, acct, avatar, note, noindex, suspended, display_name }: MastodonAccount): Author | null {
  const page = webUrlOrNull(url);
  if (page === null || noindex || suspended || NO_BOTS.test((note ?? "").replace(/<[^<>]*>/g, ""))) return null;
  const name = display_name.replace(EMOJI, "").trim() || acct;
  return { url: page, name, photo: webUrlOrNull(avatar ?? undefined) };
}
