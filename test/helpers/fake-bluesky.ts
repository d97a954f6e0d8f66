// test/helpers/fake-bluesky.ts: an app view of Bluesky with the methods that are used, after the lexicons of app.bsky.feed.
import { type LoopbackServer, loopbackServer } from "./loopback.js";

/** app.bsky.actor.defs#profileView */
export interface FakeActor {
  did: string;
  handle: string;
  displayName?: string;
  avatar?: string;
  labels: { val: string; src: string; uri: string; cts: string }[];
}

/** app.bsky.feed.defs#postView */
export interface FakePost {
  uri: string;
  cid: string;
  author: FakeActor;
  record: { $type: string; text: string; createdAt: string; [field: string]: unknown };
  indexedAt: string;
  labels: FakeActor["labels"];
  parent: FakePost | null;
}

export interface FakeBluesky extends LoopbackServer {
  posts: FakePost[];
  /** Those who like or repost a post, by its URI. The newest last. */
  likes: Map<string, FakeActor[]>;
  reposts: Map<string, FakeActor[]>;
  /** The URIs of replies that the author of a thread has hidden. */
  hidden: string[];
  fault: { status: number; headers?: Record<string, string>; body?: string } | null;
  addActor(handle: string, change?: Partial<FakeActor>): FakeActor;
  addPost(author: FakeActor, text: string, change?: { parent?: FakePost; record?: object }): FakePost;
}

const CID = "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a";
const TIME = "2026-11-20T08:00:00.000Z";
const PAGE = 100;

export async function fakeBluesky(): Promise<FakeBluesky> {
  let ids = 0;
  const toName = (id: number, length: number) =>
    id
      .toString(6)
      .replace(/./g, (digit) => String(Number(digit) + 2))
      .padStart(length, "2");
  const server = await loopbackServer((request, response) => {
    const { status, value, headers } = answer(fake, new URL(request.url ?? "", fake.url));
    response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers });
    response.end(typeof value === "string" ? value : JSON.stringify(value));
  });
  const fake: FakeBluesky = Object.assign(server, {
    posts: [],
    likes: new Map(),
    reposts: new Map(),
    hidden: [],
    fault: null,
    addActor(handle: string, change: Partial<FakeActor> = {}): FakeActor {
      ids += 1;
      const avatar = `https://cdn.bsky.app/img/avatar/plain/${handle}@jpeg`;
      return {
        did: `did:plc:${toName(ids, 24)}`,
        handle,
        displayName: handle.split(".")[0] ?? "",
        avatar,
        labels: [],
        ...change,
      };
    },
    addPost(
      author: FakeActor,
      text: string,
      { parent, record }: { parent?: FakePost; record?: object } = {},
    ): FakePost {
      ids += 1;
      const uri = `at://${author.did}/app.bsky.feed.post/3lbq${toName(ids, 9)}`;
      const root = findRoot(parent ?? null);
      const reply = parent && root && { parent: toRef(parent), root: toRef(root) };
      const post: FakePost = {
        ...{ uri, cid: CID, author, indexedAt: TIME, labels: [], parent: parent ?? null },
        record: { $type: "app.bsky.feed.post", text, createdAt: TIME, ...(reply && { reply }), ...record },
      };
      fake.posts.push(post);
      return post;
    },
  });
  return fake;
}

interface Answer {
  status: number;
  value: unknown;
  headers?: Record<string, string>;
}

function findRoot(post: FakePost | null): FakePost | null {
  return post?.parent ? findRoot(post.parent) : post;
}

function toRef({ uri, cid }: FakePost) {
  return { uri, cid };
}

function answer(fake: FakeBluesky, { pathname, searchParams }: URL): Answer {
  if (fake.fault) return { ...fake.fault, value: fake.fault.body ?? { error: "Fault", message: "A fault" } };
  const [, actor = "", key] = /^at:\/\/([^/]+)\/app\.bsky\.feed\.post\/(.+)$/.exec(searchParams.get("uri") ?? "") ?? [];
  const post = fake.posts.find(
    ({ uri, author }) => uri.endsWith(`/${key}`) && [author.did, author.handle].includes(actor),
  );
  if (!post)
    return { status: 400, value: { error: "NotFound", message: `Post not found: ${searchParams.get("uri")}` } };
  const page = (actors: FakeActor[]) => {
    const start = Number(searchParams.get("cursor") ?? 0);
    const end = start + Math.min(Number(searchParams.get("limit") ?? 50), PAGE);
    return { list: actors.toReversed().slice(start, end), ...(end < actors.length && { cursor: String(end) }) };
  };
  switch (pathname) {
    case "/xrpc/app.bsky.feed.getPostThread": {
      const gate = { $type: "app.bsky.feed.threadgate", post: post.uri, createdAt: TIME, hiddenReplies: fake.hidden };
      const threadgate = { uri: post.uri, cid: CID, record: gate, lists: [] };
      return { status: 200, value: { thread: toThread(fake, post), ...(fake.hidden.length > 0 && { threadgate }) } };
    }
    case "/xrpc/app.bsky.feed.getLikes": {
      const { list, ...next } = page(fake.likes.get(post.uri) ?? []);
      const likes = list.map((actor) => ({ actor, createdAt: TIME, indexedAt: TIME }));
      return { status: 200, value: { uri: post.uri, likes, ...next } };
    }
    case "/xrpc/app.bsky.feed.getRepostedBy": {
      const { list, ...next } = page(fake.reposts.get(post.uri) ?? []);
      return { status: 200, value: { uri: post.uri, repostedBy: list, ...next } };
    }
    default:
      return { status: 501, value: { error: "MethodNotImplemented", message: "Method Not Implemented" } };
  }
}

function toThread(fake: FakeBluesky, { parent: _, ...post }: FakePost): object {
  const replies = fake.posts.filter(({ parent }) => parent?.uri === post.uri);
  const counts = {
    replyCount: replies.length,
    likeCount: fake.likes.get(post.uri)?.length ?? 0,
    repostCount: fake.reposts.get(post.uri)?.length ?? 0,
  };
  const type = "app.bsky.feed.defs#threadViewPost";
  return { $type: type, post: { ...post, ...counts }, replies: replies.map((reply) => toThread(fake, reply)) };
}
