// plugin/mentions/networks/mastodon-thread.ts: reads the public replies to a status, and who likes and reposts it.
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { toInstant } from "../../feed/timestamp.js";
import { escapeHtml } from "../../site/html.js";
import { webUrlOrNull } from "../verify/source-text.js";
import { MastodonAccount, MastodonServer, MastodonStatus } from "./mastodon.js";
import {
  type Account,
  type Copy,
  MAX_REACTIONS,
  NetworkError,
  type Reaction,
  type Status,
  type Thread,
  type ThreadParts,
} from "./network.js";

/** A thread of 4,096 replies, the most that Mastodon sends. */
const CONTEXT_BYTES = 24 * 2 ** 20;
/** Mastodon sends this many replies to a request without a token. */
const ANONYMOUS_REPLIES = 60;
const ACCOUNTS_PER_PAGE = 80;
/** Custom emojis in names, which are pictures on their server. */
const EMOJI = /:[a-z0-9_]{2,}:/gi;
const NO_BOTS = /#nobots?\b/i;

const Context = v.object({ descendants: v.array(v.unknown()) });
const Accounts = v.array(v.unknown());

/** As {@link Network.thread}. @throws TwtxtError `bad-source` if the ID is that of another status */
export async function readMastodonThread(copy: Copy, parts: ThreadParts): Promise<Thread | null> {
  const found = await findStatus(copy, parts);
  if (!found || !["public", "unlisted"].includes(found.status.visibility)) return null;
  const { server, status } = found;
  const path = `/api/v1/statuses/${encodeURIComponent(status.id)}`;
  const { value: context } = await server.request(`${path}/context`, Context, { maxBytes: CONTEXT_BYTES });
  const likes = await readReactions(server, `${path}/favourited_by`, "like", status.favourites_count);
  const reposts = await readReactions(server, `${path}/reblogged_by`, "repost", status.reblogs_count);
  return {
    published: toInstant(status.created_at),
    replies: toReplies(context.descendants, parts.isUnlistedWanted),
    reactions: [...likes.reactions, ...reposts.reactions],
    hasAll: {
      replies: server.hasToken || context.descendants.length < ANONYMOUS_REPLIES,
      like: likes.hasAll,
      repost: reposts.hasAll,
    },
  };
}

/** With the author's token, if it may read: then the server sends longer threads. @returns `null` for no such status */
async function findStatus(
  copy: Copy,
  parts: ThreadParts,
): Promise<{ server: MastodonServer; status: MastodonStatus } | null> {
  const server = new MastodonServer(copy.server, parts);
  try {
    const { value: status } = await server.request(`/api/v1/statuses/${encodeURIComponent(copy.id)}`, MastodonStatus);
    if (isNamed(status, copy)) return { server, status };
    throw new TwtxtError("bad-source", `${copy.url} has the ID of another status, ${status.url ?? status.uri}.`);
  } catch (error) {
    const status = error instanceof NetworkError ? error.status : null;
    if ((status === 401 || status === 403) && server.hasToken) return findStatus(copy, { ...parts, token: undefined });
    if (status !== null && [401, 403, 404, 410].includes(status)) return null;
    throw error;
  }
}

/** Whether the URL names the account of a status, or none: an ID means another status on another server. */
function isNamed({ account }: MastodonStatus, { url }: Copy): boolean {
  const { host, pathname } = new URL(url);
  const [, name] = /^\/(?:web\/)?(?:@|%40|users\/|p\/)([^/]+)\//i.exec(pathname) ?? [];
  if (name === undefined) return true;
  const [acct, named] = [account.acct, decodeURIComponent(name)].map((each) => each.toLowerCase());
  return acct === named || `${acct}@${host}` === named;
}

function toReplies(descendants: readonly unknown[], isUnlistedWanted: boolean): Status[] {
  const statuses = descendants.flatMap((each) => {
    const { success, output } = v.safeParse(MastodonStatus, each);
    return success ? [output] : [];
  });
  const byId = new Map(statuses.map((status) => [status.id, status]));
  const shown = new Map<string, Status>();
  for (const status of statuses) {
    const url = webUrlOrNull(status.url ?? status.uri);
    const author = toAccount(status.account);
    const isPublic = status.visibility === "public" || (isUnlistedWanted && status.visibility === "unlisted");
    if (url === null || author === null || !isPublic) continue;
    const warning = status.spoiler_text === "" ? "" : `<p><strong>${escapeHtml(status.spoiler_text)}</strong></p>`;
    const html = `${warning}${status.content}`;
    shown.set(status.id, { url, author, html, published: toInstant(status.created_at), replyTo: null });
  }
  return [...shown].map(([id, status]) => ({ ...status, replyTo: findParent(id, byId, shown) }));
}

/** The URL of the nearest shown reply above; that of a private one must not be told. */
function findParent(
  id: string,
  byId: ReadonlyMap<string, MastodonStatus>,
  shown: ReadonlyMap<string, Status>,
): string | null {
  const seen = new Set<string>();
  for (let at = byId.get(id)?.in_reply_to_id; at && !seen.has(at); at = byId.get(at)?.in_reply_to_id) {
    const parent = shown.get(at);
    if (parent) return parent.url;
    seen.add(at);
  }
  return null;
}

/** @returns `null` for one that does not want to be found */
function toAccount({ url, acct, avatar, note, noindex, suspended, display_name }: MastodonAccount): Account | null {
  const page = webUrlOrNull(url);
  if (page === null || noindex || suspended || NO_BOTS.test((note ?? "").replace(/<[^>]*>/g, ""))) return null;
  const name = display_name.replace(EMOJI, "").trim() || acct;
  return { url: page, name, photo: webUrlOrNull(avatar ?? undefined) };
}

/** Pages of accounts, the newest reaction first. @param count - how many there are, by the status */
async function readReactions(server: MastodonServer, path: string, type: Reaction["type"], count: number) {
  const reactions: Reaction[] = [];
  let next = count > 0 ? `${path}?limit=${ACCOUNTS_PER_PAGE}` : null;
  for (let left = MAX_REACTIONS / ACCOUNTS_PER_PAGE; next !== null && left > 0; left -= 1) {
    const { value, headers } = await server.request(next, Accounts);
    for (const each of value) {
      const { success, output } = v.safeParse(MastodonAccount, each);
      const author = success ? toAccount(output) : null;
      if (author) reactions.push({ type, author, published: null });
    }
    const query = /<[^>]*\?([^>]*)>\s*;\s*rel="?next\b/i.exec(headers.link ?? "")?.[1];
    next = query === undefined || value.length === 0 ? null : `${path}?${query}`;
  }
  return { reactions, hasAll: next === null };
}
