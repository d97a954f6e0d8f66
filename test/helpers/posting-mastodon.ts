// test/helpers/posting-mastodon.ts: the part of Mastodon's API by which an account posts, after docs.joinmastodon.org.
import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { type FakeAccount, type FakeMastodon, type FakeStatus, fakeMastodon } from "./fake-mastodon.js";

interface Media {
  id: string;
  type: string;
  url: string | null;
  description: string | null;
  bytes: Uint8Array;
}

export interface PostingMastodon extends FakeMastodon {
  me: FakeAccount;
  /** What was posted, edited and deleted, such as `POST 110…`, oldest first. */
  writes: string[];
  media: Map<string, Media>;
  /** The IDs of statuses by idempotency key, which Mastodon keeps for an hour. */
  keys: Map<string, string>;
  /** Called before a status is created; throws to answer nothing. */
  onPost: () => void;
  maxCharacters: number;
  /** The largest picture that it accepts. */
  maxPictureBytes: number;
  /** What the token allows. */
  scopes: string[];
  /** The environment of a site with this account. */
  environment: Record<string, string>;
  /** Statuses of the account, oldest first. */
  posted(): FakeStatus[];
}

/** @param token - of the account `alice` */
export async function postingMastodon(token = "secret-token"): Promise<PostingMastodon> {
  const server = await fakeMastodon();
  const me = server.addAccount("alice");
  const fake: PostingMastodon = Object.assign(server, {
    token,
    me,
    writes: [],
    media: new Map<string, Media>(),
    keys: new Map<string, string>(),
    onPost: () => {},
    maxCharacters: 500,
    maxPictureBytes: 16_777_216,
    scopes: ["read", "write"],
    environment: { TWTXT_MASTODON_URL: `${server.url}/`, TWTXT_MASTODON_TOKEN: token },
    posted: () => [...server.statuses.values()].filter(({ account }) => account.id === me.id),
  });
  server.handlers.push((request, response) => {
    const work = route(fake, request);
    if (work === null) return false;
    const send = ([status, value]: Answer) =>
      response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(value));
    work().then(send, () => response.destroy());
    return true;
  });
  return fake;
}

type Answer = readonly [status: number, value: unknown];

function route(fake: PostingMastodon, request: IncomingMessage): (() => Promise<Answer>) | null {
  const { pathname, searchParams } = new URL(request.url ?? "", fake.url);
  const isSigned = request.headers.authorization !== undefined;
  const denied: Answer = [401, { error: "The access token is invalid" }];
  const own = (work: () => Promise<Answer> | Answer) => async () => (isSigned ? work() : denied);
  const [, id = ""] = /^\/api\/v1\/(?:statuses|media)\/(\w+)$/.exec(pathname) ?? [];
  switch (`${request.method} ${id === "" ? pathname : pathname.replace(id, ":id")}`) {
    case "GET /api/v1/accounts/verify_credentials":
      return own(() => [200, fake.me]);
    case "GET /api/v1/apps/verify_credentials":
      return own(() => [200, { name: "eleventy-plugin-twtxt", scopes: fake.scopes }]);
    case "POST /api/v1/apps":
      return async () => {
        const { client_name, redirect_uris, scopes } = JSON.parse(String(await buffer(request)));
        return [200, { name: client_name, client_id: "app", client_secret: "hidden", redirect_uris, scopes }];
      };
    case "POST /oauth/token":
      return async () => {
        const { code, client_secret, redirect_uri } = JSON.parse(String(await buffer(request)));
        const isRight = code === "the-code" && client_secret === "hidden" && redirect_uri.endsWith(":oob");
        return isRight ? [200, { access_token: fake.token, token_type: "Bearer" }] : [400, { error: "invalid_grant" }];
      };
    case "GET /api/v2/instance":
      return async () => [200, instance(fake)];
    case `GET /api/v1/accounts/${fake.me.id}/statuses`: {
      const before = BigInt(searchParams.get("max_id") ?? "999999999999999999999");
      const statuses = fake
        .posted()
        .filter((status) => BigInt(status.id) < before)
        .toReversed();
      return async () => [200, statuses.slice(0, Number(searchParams.get("limit") ?? 20))];
    }
    case "GET /api/v2/search": {
      const found = [...fake.statuses.values()].filter(({ url }) => url === searchParams.get("q"));
      return own(() => [200, { accounts: [], hashtags: [], statuses: found }]);
    }
    case "POST /api/v2/media":
      return own(() => upload(fake, request));
    case "POST /api/v1/statuses":
      return own(() => post(fake, request));
    case "PUT /api/v1/statuses/:id":
      return own(() => edit(fake, id, request));
    case "DELETE /api/v1/statuses/:id":
      return own(() => {
        if (!fake.statuses.delete(id)) return [404, { error: "Record not found" }];
        fake.writes.push(`DELETE ${id}`);
        return [200, {}];
      });
    default:
      return null;
  }
}

function instance({ maxCharacters, maxPictureBytes }: PostingMastodon) {
  return {
    domain: "mastodon.example",
    version: "4.5.2",
    configuration: {
      statuses: { max_characters: maxCharacters, max_media_attachments: 4, characters_reserved_per_url: 23 },
      media_attachments: { image_size_limit: maxPictureBytes, description_limit: 1500 },
    },
  };
}

async function upload(fake: PostingMastodon, request: IncomingMessage): Promise<Answer> {
  const body = await buffer(request);
  const type = request.headers["content-type"] ?? "";
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const file = form.get("file") as File;
  const id = String(fake.media.size + 1);
  const description = form.get("description");
  const media = {
    id,
    type: file.type,
    url: `${fake.url}/media/${id}`,
    description: description && String(description),
  };
  fake.media.set(id, { ...media, bytes: new Uint8Array(await file.arrayBuffer()) });
  return [200, { ...media, preview_url: media.url }];
}

async function post(fake: PostingMastodon, request: IncomingMessage): Promise<Answer> {
  const key = request.headers["idempotency-key"];
  const body = JSON.parse(String(await buffer(request)));
  const known = typeof key === "string" ? fake.statuses.get(fake.keys.get(key) ?? "") : undefined;
  if (known) return [200, known];
  fake.onPost();
  const change = toStatus(fake, body);
  if (typeof change === "string") return [422, { error: `Validation failed: ${change}` }];
  const status = fake.addStatus(fake.me, "", change);
  if (typeof key === "string") fake.keys.set(key, status.id);
  fake.writes.push(`POST ${status.id}`);
  return [200, status];
}

async function edit(fake: PostingMastodon, id: string, request: IncomingMessage): Promise<Answer> {
  const change = toStatus(fake, JSON.parse(String(await buffer(request))));
  const status = fake.statuses.get(id);
  if (!status) return [404, { error: "Record not found" }];
  if (typeof change === "string") return [422, { error: `Validation failed: ${change}` }];
  const { in_reply_to_id: _, ...edited } = change;
  fake.writes.push(`PUT ${id}`);
  fake.statuses.set(id, { ...status, ...edited, edited_at: "2026-11-20T09:00:00.000Z" });
  return [200, fake.statuses.get(id)];
}

/** @returns a sentence for an invalid request */
function toStatus(fake: PostingMastodon, body: Record<string, unknown>): Partial<FakeStatus> | string {
  const text = String(body.status ?? "");
  const counted = text.replace(/https?:\/\/[^\s)]+/g, "x".repeat(23)) + String(body.spoiler_text ?? "");
  if ([...new Intl.Segmenter().segment(counted)].length > fake.maxCharacters)
    return `Text character limit of ${fake.maxCharacters} exceeded`;
  const ids = (body.media_ids ?? []) as string[];
  return {
    text,
    content: toHtml(text),
    spoiler_text: String(body.spoiler_text ?? ""),
    sensitive: body.sensitive === true,
    language: body.language ?? null,
    in_reply_to_id: (body.in_reply_to_id as string | undefined) ?? null,
    media_attachments: ids.flatMap((id) => fake.media.get(id) ?? []),
  };
}

function toHtml(text: string): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const linked = escaped.replace(
    /https?:\/\/[^\s)]+/g,
    (url) => `<a href="${url}" target="_blank"><span>${url}</span></a>`,
  );
  return `<p>${linked.replaceAll("\n", "<br>")}</p>`;
}
