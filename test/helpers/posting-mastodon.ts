// test/helpers/posting-mastodon.ts: the part of Mastodon's API by which an account posts, after docs.joinmastodon.org.
import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { type FakeAccount, type FakeMastodon, type FakeStatus, fakeMastodon } from "./fake-mastodon.js";

/** https://docs.joinmastodon.org/entities/MediaAttachment/ */
interface Media {
  id: string;
  type: string;
  url: string;
  description: string | null;
  [field: string]: unknown;
}

interface UploadedMedia extends Media {
  mimeType: string;
  bytes: Uint8Array;
}

export interface PostingMastodon extends FakeMastodon {
  me: FakeAccount;
  /** What was posted, edited and deleted, such as `POST 110…`, oldest first. */
  writes: string[];
  media: Map<string, UploadedMedia>;
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
    media: new Map<string, UploadedMedia>(),
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
  const { pathname: path, searchParams } = new URL(request.url ?? "", fake.url);
  const pathname = path.replace(/\/$/, "");
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
        const { client_name, redirect_uris, scopes } = await readBody(request);
        return [200, { name: client_name, client_id: "app", client_secret: "hidden", redirect_uris, scopes }];
      };
    case "POST /oauth/token":
      return async () => {
        const { code, client_secret, redirect_uri } = await readBody(request);
        const isRight = code === "the-code" && client_secret === "hidden" && String(redirect_uri).endsWith(":oob");
        return isRight ? [200, { access_token: fake.token, token_type: "Bearer" }] : [400, { error: "invalid_grant" }];
      };
    case "GET /api/v1/instance":
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
        const status = fake.statuses.get(id);
        if (!status) return [404, { error: "Record not found" }];
        const entity = fake.toEntity(status);
        fake.statuses.delete(id);
        fake.writes.push(`DELETE ${id}`);
        return [200, entity];
      });
    default:
      return null;
  }
}

function instance({ maxCharacters, maxPictureBytes }: PostingMastodon) {
  return {
    domain: "mastodon.example",
    version: "4.5.2",
    api_versions: { mastodon: 7 },
    configuration: {
      statuses: { max_characters: maxCharacters, max_media_attachments: 4, characters_reserved_per_url: 23 },
      media_attachments: { image_size_limit: maxPictureBytes, description_limit: 1500 },
    },
  };
}

async function upload(fake: PostingMastodon, request: IncomingMessage): Promise<Answer> {
  const { file, description = null } = await readBody(request);
  if (!(file instanceof File)) return [422, { error: "Validation failed: File can't be blank" }];
  const id = String(fake.media.size + 1);
  const url = `${fake.url}/media/${id}`;
  const text = description === null ? null : String(description);
  const media: Media = {
    ...{ id, type: "image", url, preview_url: url, description: text },
    ...{ remote_url: null, text_url: null, meta: {}, blurhash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj" },
  };
  fake.media.set(id, { ...media, mimeType: file.type, bytes: new Uint8Array(await file.arrayBuffer()) });
  return [200, media];
}

async function post(fake: PostingMastodon, request: IncomingMessage): Promise<Answer> {
  const key = request.headers["idempotency-key"];
  const body = await readBody(request);
  const known = typeof key === "string" ? fake.statuses.get(fake.keys.get(key) ?? "") : undefined;
  if (known) return [200, fake.toEntity(known)];
  fake.onPost();
  const change = toStatus(fake, body);
  if (typeof change === "string") return [422, { error: `Validation failed: ${change}` }];
  const status = fake.addStatus(fake.me, "", change);
  if (typeof key === "string") fake.keys.set(key, status.id);
  fake.writes.push(`POST ${status.id}`);
  return [200, fake.toEntity(status)];
}

async function edit(fake: PostingMastodon, id: string, request: IncomingMessage): Promise<Answer> {
  const change = toStatus(fake, await readBody(request));
  const status = fake.statuses.get(id);
  if (!status) return [404, { error: "Record not found" }];
  if (typeof change === "string") return [422, { error: `Validation failed: ${change}` }];
  const { in_reply_to_id: _, ...edited } = change;
  fake.writes.push(`PUT ${id}`);
  const next = { ...status, ...edited, edited_at: "2026-11-20T09:00:00.000Z" };
  fake.statuses.set(id, next);
  return [200, fake.toEntity(next)];
}

/** JSON or a form, in which the names of lists end in `[]`. */
async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const type = request.headers["content-type"] ?? "";
  const body = new Response(new Uint8Array(await buffer(request)), { headers: { "content-type": type } });
  if (type.startsWith("application/json")) return Object(await body.json());
  const form = await body.formData();
  const fields = [...form.keys()].map((name) => {
    const isList = name.endsWith("[]");
    return isList ? [name.slice(0, -2), form.getAll(name)] : [name, form.get(name)];
  });
  return Object.fromEntries(fields);
}

/** @returns a sentence for an invalid request */
function toStatus(fake: PostingMastodon, body: Record<string, unknown>): Partial<FakeStatus> | string {
  const text = String(body.status ?? "");
  const counted = text.replace(/https?:\/\/[^\s)]+/g, "x".repeat(23)) + String(body.spoiler_text ?? "");
  if ([...new Intl.Segmenter().segment(counted)].length > fake.maxCharacters)
    return `Text character limit of ${fake.maxCharacters} exceeded`;
  const ids = [body.media_ids ?? []].flat().map(String);
  return {
    text,
    content: toHtml(text),
    spoiler_text: String(body.spoiler_text ?? ""),
    sensitive: [true, "true", "True", "1"].includes(body.sensitive as string | boolean),
    language: body.language ?? null,
    in_reply_to_id: (body.in_reply_to_id as string | undefined) ?? null,
    media_attachments: ids.flatMap((id) => {
      const { mimeType: _, bytes: __, ...media } = fake.media.get(id) ?? { id: null };
      return media.id === null ? [] : [media];
    }),
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
