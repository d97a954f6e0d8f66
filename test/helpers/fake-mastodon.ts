// test/helpers/fake-mastodon.ts: a server with the part of Mastodon's API that is used, after docs.joinmastodon.org.
import type { IncomingMessage, ServerResponse } from "node:http";
import { groupBy } from "../../plugin/groups.js";
import { type LoopbackServer, loopbackServer } from "./loopback.js";

const ANONYMOUS_REPLIES = 60;

/** https://docs.joinmastodon.org/entities/Account/ */
export interface FakeAccount {
  id: string;
  username: string;
  acct: string;
  url: string;
  display_name: string;
  note: string;
  avatar: string;
  noindex: boolean;
  [field: string]: unknown;
}

/** https://docs.joinmastodon.org/entities/Status/ */
export interface FakeStatus {
  id: string;
  uri: string;
  url: string;
  created_at: string;
  account: FakeAccount;
  content: string;
  visibility: string;
  spoiler_text: string;
  in_reply_to_id: string | null;
  [field: string]: unknown;
}

export interface FakeMastodon extends LoopbackServer {
  statuses: Map<string, FakeStatus>;
  /** Those who like or repost a status, by its ID. The newest last. */
  favourites: Map<string, FakeAccount[]>;
  reblogs: Map<string, FakeAccount[]>;
  /** What is sent instead; `null` for nothing. */
  fault: { status: number; headers?: Record<string, string>; body?: string } | null;
  /** Headers of all answers. */
  headers: Record<string, string>;
  /** The token that may read; another one is refused. */
  token: string;
  /** The time of a new status. */
  now(): string;
  /** Called before each answer. */
  onRequest(): void;
  /** The tokens that were sent. */
  tokens: (string | undefined)[];
  /** Answer further requests; each returns whether it did. */
  handlers: ((request: IncomingMessage, response: ServerResponse) => boolean)[];
  addAccount(acct: string, change?: Partial<FakeAccount>): FakeAccount;
  addStatus(account: FakeAccount, content: string, change?: Partial<FakeStatus>): FakeStatus;
  /** As it is sent. */
  toEntity(status: FakeStatus): FakeStatus;
}

export async function fakeMastodon(): Promise<FakeMastodon> {
  const server = await loopbackServer((request, response) => answer(fake, request, response));
  let ids = 110_000_000_000_000_000n;
  const nextId = () => String(ids++);
  const fake: FakeMastodon = Object.assign(server, {
    statuses: new Map<string, FakeStatus>(),
    favourites: new Map<string, FakeAccount[]>(),
    reblogs: new Map<string, FakeAccount[]>(),
    fault: null,
    headers: {},
    token: "read",
    tokens: [],
    now: () => "2026-11-20T08:00:00.123Z",
    onRequest() {},
    handlers: [],
    addAccount(acct: string, change: Partial<FakeAccount> = {}): FakeAccount {
      const [username = "", host] = acct.split("@");
      const base = host === undefined ? server.url : `https://${host}`;
      const url = `${base}/@${username}`;
      const images = { avatar: `${base}/avatars/${username}.png`, header: `${base}/headers/missing.png` };
      return {
        ...{ id: nextId(), username, acct, url, uri: `${base}/users/${username}`, display_name: username, note: "" },
        ...{ ...images, avatar_static: images.avatar, header_static: images.header, emojis: [], fields: [], roles: [] },
        ...{ locked: false, bot: false, group: false, discoverable: true, indexable: false, noindex: false },
        ...{ created_at: "2022-11-05T00:00:00.000Z", last_status_at: "2026-11-20", hide_collections: false },
        ...{ followers_count: 3, following_count: 4, statuses_count: 5 },
        ...change,
      };
    },
    addStatus(account: FakeAccount, content: string, change: Partial<FakeStatus> = {}): FakeStatus {
      const id = nextId();
      const status = {
        ...{ id, uri: `${account.uri}/statuses/${id}`, url: `${account.url}/${id}`, account, content },
        ...{ created_at: fake.now(), edited_at: null, visibility: "public", language: "en" },
        ...{ sensitive: false, spoiler_text: "", in_reply_to_id: null, in_reply_to_account_id: null, reblog: null },
        ...{ media_attachments: [], mentions: [], tags: [], emojis: [], card: null, poll: null, application: null },
        ...change,
      };
      fake.statuses.set(status.id, status);
      return status;
    },
    toEntity: (status: FakeStatus) => toEntity(fake, status, groupReplies(fake)),
  });
  return fake;
}

function answer(fake: FakeMastodon, request: IncomingMessage, response: ServerResponse): unknown {
  const url = new URL(request.url ?? "", fake.url);
  const token = request.headers.authorization?.replace("Bearer ", "");
  fake.tokens.push(token);
  fake.onRequest();
  const send = (status: number, value: unknown, headers: Record<string, string> = {}) => {
    response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...fake.headers, ...headers });
    return response.end(typeof value === "string" ? value : JSON.stringify(value));
  };
  if (fake.fault) return send(fake.fault.status, fake.fault.body ?? { error: "fault" }, fake.fault.headers);
  if (token !== undefined && token !== fake.token) return send(401, { error: "The access token is invalid" });
  if (fake.handlers.some((handle) => handle(request, response))) return undefined;
  const [, id = "", part = ""] = /^\/api\/v1\/statuses\/(\w+)(?:\/(\w+))?$/.exec(url.pathname) ?? [];
  const status = fake.statuses.get(id);
  const isPublic = status && ["public", "unlisted"].includes(status.visibility);
  if (!isPublic) return send(404, { error: "Record not found" });
  const replies = groupReplies(fake);
  switch (part) {
    case "":
      return send(200, toEntity(fake, status, replies));
    case "context": {
      const all = listDescendants(id, replies).filter(
        ({ visibility }) => token !== undefined || ["public", "unlisted"].includes(visibility),
      );
      const descendants = token === undefined ? all.slice(0, ANONYMOUS_REPLIES) : all;
      return send(200, { ancestors: [], descendants: descendants.map((each) => toEntity(fake, each, replies)) });
    }
    case "favourited_by":
    case "reblogged_by": {
      const accounts = (fake[part === "favourited_by" ? "favourites" : "reblogs"].get(id) ?? []).toReversed();
      const limit = Math.min(Number(url.searchParams.get("limit") ?? 40), 80);
      const start = Number(url.searchParams.get("max_id") ?? 0);
      const hasMore = start + limit < accounts.length;
      const next = `${fake.url}${url.pathname}?limit=${limit}&max_id=${start + limit}`;
      return send(200, accounts.slice(start, start + limit), hasMore ? { link: `<${next}>; rel="next"` } : {});
    }
    default:
      return send(404, { error: "Not found" });
  }
}

type Replies = ReadonlyMap<string | null, readonly FakeStatus[]>;

function groupReplies({ statuses }: FakeMastodon): Replies {
  return groupBy([...statuses.values()], ({ in_reply_to_id }) => in_reply_to_id);
}

function toEntity(fake: FakeMastodon, status: FakeStatus, replies: Replies): FakeStatus {
  return {
    ...status,
    replies_count: replies.get(status.id)?.length ?? 0,
    favourites_count: fake.favourites.get(status.id)?.length ?? 0,
    reblogs_count: fake.reblogs.get(status.id)?.length ?? 0,
  };
}

/** Depth first, as Mastodon has them. */
function listDescendants(id: string, replies: Replies): FakeStatus[] {
  return (replies.get(id) ?? []).flatMap((status) => [status, ...listDescendants(status.id, replies)]);
}
