// plugin/mentions/networks/bluesky.ts: the names of accounts and posts of Bluesky, and the threads of posts.
import * as v from "valibot";
import { toInstant } from "../../feed/timestamp.js";
import { escapeHtml } from "../../site/html.js";
import type { Author } from "../../site/mention-list.js";
import { canParseUrl } from "../../url.js";
import { webUrlOrNull } from "../../web-url.js";
import type { Answer, Copy, ReadThread } from "./network.js";
import { ifRefused, NetworkServer, REACTIONS_PER_PAGE, readReactions, selectValid } from "./network-json.js";

/** Answers without an account. */
export const APP_VIEW = "https://public.api.bsky.app";
/** Before the names of methods, at any server. */
export const XRPC = "/xrpc/";
export const POSTS = "app.bsky.feed.post";
/** The pages of accounts and posts. */
const PAGES = "https://bsky.app/profile";
const ACTOR = "did:[a-z]+:[A-Za-z0-9._:%-]+|[A-Za-z0-9.-]+\\.[A-Za-z0-9-]+";
const POST_URI = new RegExp(`^at://(${ACTOR})/${POSTS}/([A-Za-z0-9._~:-]{1,512})$`);
const POST_PATH = new RegExp(`^/profile/(${ACTOR})/post/([A-Za-z0-9._~:-]{1,512})/?$`);

/** @returns `null` for anything but a post: its `at://` URI, or its page at bsky.app or another client on the web */
export function parsePostUrl(url: string): Copy | null {
  const path = /^https?:/i.test(url) && canParseUrl(url) ? new URL(url).pathname : "";
  const [, actor, key] = POST_URI.exec(url) ?? POST_PATH.exec(path) ?? [];
  return actor === undefined || key === undefined ? null : toCopy(actor, key);
}

/** @param actor - a handle, or a DID, which stays the same when the account changes its handle */
export function toCopy(actor: string, key: string): Copy {
  const url = `${toAccountPage(actor)}/post/${key}`;
  return { network: "bluesky", url, server: APP_VIEW, id: `at://${actor}/${POSTS}/${key}` };
}

/** The page of an account. @param actor - its handle or DID */
export function toAccountPage(actor: string): string {
  return `${PAGES}/${actor}`;
}

/** A thread of 5,000 replies. */
const THREAD_BYTES = 24 * 2 ** 20;
const DEPTH = 100;
/** The label of accounts and posts that are only for people with an account. */
const FOR_ACCOUNTS_ONLY = "!no-unauthenticated";

const list = <T extends v.GenericSchema>(item: T) => v.optional(v.array(item), []);
const Labels = list(v.object({ val: v.string() }));
const Actor = v.object({
  did: v.string(),
  handle: v.string(),
  displayName: v.optional(v.string(), ""),
  avatar: v.nullish(v.string()),
  labels: Labels,
});

const Facet = v.object({
  index: v.object({ byteStart: v.number(), byteEnd: v.number() }),
  features: v.array(v.object({ uri: v.nullish(v.string()), did: v.nullish(v.string()) })),
});
const Post = v.object({
  uri: v.string(),
  author: Actor,
  record: v.object({ text: v.string(), createdAt: v.string(), facets: list(v.unknown()) }),
  likeCount: v.optional(v.number(), 0),
  repostCount: v.optional(v.number(), 0),
  labels: Labels,
});
type Post = v.InferOutput<typeof Post>;

/** A post with the answers to it. Other items are posts that are gone or hidden. */
const ThreadPost = v.object({ post: Post, replies: list(v.unknown()) });
const Gate = v.object({ record: v.optional(v.object({ hiddenReplies: list(v.string()) })) });
const ThreadAnswer = v.object({ thread: v.unknown(), threadgate: v.optional(Gate) });
const Page = v.object({ cursor: v.nullish(v.string()), likes: list(v.unknown()), repostedBy: list(v.unknown()) });
const Like = v.object({ createdAt: v.optional(v.string(), ""), actor: Actor });
const REACTIONS = { like: "getLikes", repost: "getRepostedBy" };

export const readBlueskyThread: ReadThread = async (copy, parts) => {
  const server = new NetworkServer(copy.server + XRPC, parts);
  const method = `app.bsky.feed.getPostThread?uri=${encodeURIComponent(copy.id)}&depth=${DEPTH}&parentHeight=0`;
  const request = server.request(method, ThreadAnswer, { maxBytes: THREAD_BYTES });
  const answer = await request.catch(ifRefused(null, 400, 404));
  const [root] = selectValid(ThreadPost, [answer?.value.thread]);
  if (!answer || !root) return null;
  const { post, replies } = root;
  const counts = { like: post.likeCount, repost: post.repostCount };
  const { reactions, hasAll } = await readReactions(counts, async (type, cursor) => {
    const query = new URLSearchParams({ uri: copy.id, limit: String(REACTIONS_PER_PAGE), ...(cursor && { cursor }) });
    const { value } = await server.request(`app.bsky.feed.${REACTIONS[type]}?${query}`, Page);
    const actors = selectValid(Like, [...value.likes, ...value.repostedBy.map((actor) => ({ actor }))]);
    const found = actors.flatMap(({ actor, createdAt }) => {
      const author = toAccount(actor);
      return author ? [{ author, published: toInstant(createdAt) }] : [];
    });
    return { found, next: value.cursor || null };
  });
  return {
    published: toInstant(post.record.createdAt),
    replies: toReplies(replies, new Set(answer.value.threadgate?.record?.hiddenReplies)),
    reactions,
    hasAll: { reply: true, ...hasAll },
  };
};

/** @param hidden - the URIs of replies that the author of the thread has hidden */
function toReplies(items: readonly unknown[], hidden: ReadonlySet<string>): Answer[] {
  const found: Answer[] = [];
  const ahead = items.map((item) => ({ item, replyTo: null as string | null }));
  for (let next = ahead.pop(); next; next = ahead.pop()) {
    for (const { post, replies } of selectValid(ThreadPost, [next.item])) {
      const reply = hidden.has(post.uri) ? null : toReply(post, next.replyTo);
      if (reply) found.push(reply);
      for (const item of replies) ahead.push({ item, replyTo: reply?.url ?? next.replyTo });
    }
  }
  return found;
}

function toReply({ uri, author: actor, record, labels }: Post, replyTo: string | null): Answer | null {
  const url = parsePostUrl(uri)?.url ?? null;
  const author = toAccount(actor);
  if (url === null || author === null || labels.some(({ val }) => val === FOR_ACCOUNTS_ONLY)) return null;
  return { type: "reply", url, author, html: toHtml(record), published: toInstant(record.createdAt), replyTo };
}

/** @returns `null` for one that is only for people with an account */
function toAccount({ did, handle, displayName, avatar, labels }: Post["author"]): Author | null {
  if (labels.some(({ val }) => val === FOR_ACCOUNTS_ONLY)) return null;
  const page = webUrlOrNull(toAccountPage(handle === "handle.invalid" ? did : handle));
  if (page === null) return null;
  return { url: page, name: displayName.trim() || handle, photo: webUrlOrNull(avatar ?? undefined) };
}

/** The text with its links, which are ranges of its bytes in UTF-8. */
function toHtml({ text, facets }: Post["record"]): string {
  const bytes = Buffer.from(text);
  const links = selectValid(Facet, facets).sort((a, b) => a.index.byteStart - b.index.byteStart);
  let end = 0;
  const parts: string[] = [];
  const write = (from: number, to: number) => escapeHtml(bytes.toString("utf8", from, to)).replaceAll("\n", "<br>");
  for (const { index, features } of links) {
    const { byteStart, byteEnd } = index;
    const { uri, did } = features.find((feature) => feature.uri || feature.did) ?? {};
    const href = uri ?? (did && toAccountPage(did));
    if (!href || !(byteStart >= end && byteEnd > byteStart && byteEnd <= bytes.length)) continue;
    parts.push(write(end, byteStart), `<a href="${escapeHtml(href)}">${write(byteStart, byteEnd)}</a>`);
    end = byteEnd;
  }
  return `<p>${parts.join("")}${write(end, bytes.length)}</p>`;
}
