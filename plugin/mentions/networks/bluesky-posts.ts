// plugin/mentions/networks/bluesky-posts.ts: posts and deletes records on Bluesky.
import { hash } from "node:crypto";
import * as v from "valibot";
import { ifTwtxtError } from "../../errors.js";
import { readDimensions } from "../../pictures/dimensions.js";
import type { CleanPicture } from "../../pictures/remove-metadata.js";
import { canParseUrl } from "../../url.js";
import { APP_VIEW, BlueskyServer, parsePostUrl, toAccountPage, toPostPage } from "./bluesky.js";
import { countGraphemes, fitParts, type TextPart } from "./copy-text.js";
import { type Copy, NetworkError } from "./network.js";
import { type CopyToPost, ifRefused, type PostingAccount, type PostingParts } from "./posting.js";

/** The server that knows the servers of most accounts. */
export const ENTRYWAY = "https://bsky.social";
const POSTS = "app.bsky.feed.post";
const LIMIT = 300;
const PICTURES = 4;
const PICTURE_BYTES = 1_000_000;
const ALT_LENGTH = 2000;
const CARD_LENGTH = 300;

const Session = v.object({
  accessJwt: v.string(),
  did: v.string(),
  handle: v.string(),
  didDoc: v.nullish(
    v.object({ service: v.optional(v.array(v.object({ id: v.string(), serviceEndpoint: v.unknown() })), []) }),
  ),
});
const Blob = v.object({ blob: v.record(v.string(), v.unknown()) });
const Reference = v.object({ uri: v.string(), cid: v.string() });
const Thread = v.object({
  thread: v.object({
    post: v.object({
      ...Reference.entries,
      record: v.object({ reply: v.optional(v.object({ root: Reference })) }),
    }),
  }),
});

interface Account {
  server: BlueskyServer;
  did: string;
  handle: string;
}

export class BlueskyPosts implements PostingAccount {
  readonly network = "bluesky";
  /** The app shows the first version of a post. */
  readonly canEdit = false;
  readonly place: string;
  readonly #parts: PostingParts;
  readonly #credentials: { identifier: string; password: string };
  readonly #origin: string;
  #account: Promise<Account> | null = null;

  /** @param credentials - the handle, and an app password. @param origin - where the account signs in */
  constructor(credentials: { identifier: string; password: string }, parts: PostingParts, origin = ENTRYWAY) {
    this.place = toAccountPage(credentials.identifier);
    this.#parts = parts;
    this.#credentials = credentials;
    this.#origin = origin;
  }

  async check(): Promise<{ account: string; permissions: string | null }> {
    const { handle } = await this.#signIn();
    return { account: toAccountPage(handle), permissions: null };
  }

  /** The key of a record follows from the permalink, so there is at most one record. */
  async find({ permalink }: Pick<CopyToPost, "permalink">): Promise<Copy | null> {
    const { server, did } = await this.#signIn();
    const key = toRecordKey(permalink);
    const query = new URLSearchParams({ repo: did, collection: POSTS, rkey: key });
    const found = await server.request(`com.atproto.repo.getRecord?${query}`, v.unknown()).catch(ifRefused(null, 400));
    return found && this.#toCopy(did, key);
  }

  async post(copy: CopyToPost): Promise<Copy> {
    const { server, did } = await this.#signIn();
    const key = toRecordKey(copy.permalink);
    const record = await this.#toRecord(copy, server);
    await send(server, "com.atproto.repo.putRecord", v.unknown(), { repo: did, collection: POSTS, rkey: key, record });
    return this.#toCopy(did, key);
  }

  edit(posted: Copy): Promise<Copy> {
    return Promise.resolve(posted);
  }

  async delete({ id }: Copy): Promise<void> {
    const { server, did } = await this.#signIn();
    const rkey = id.slice(id.lastIndexOf("/") + 1);
    await send(server, "com.atproto.repo.deleteRecord", v.unknown(), { repo: did, collection: POSTS, rkey });
  }

  #toCopy(did: string, key: string): Copy {
    return { network: "bluesky", url: toPostPage(did, key), server: APP_VIEW, id: `at://${did}/${POSTS}/${key}` };
  }

  #signIn(): Promise<Account> {
    this.#account ??= this.#createSession();
    return this.#account;
  }

  async #createSession(): Promise<Account> {
    const { sleep: _, ...parts } = this.#parts;
    const entryway = new BlueskyServer(this.#origin, parts);
    const { accessJwt, did, handle, didDoc } = await send(
      entryway,
      "com.atproto.server.createSession",
      Session,
      this.#credentials,
    );
    const own = didDoc?.service.find(({ id }) => id.endsWith("#atproto_pds"))?.serviceEndpoint;
    const origin = typeof own === "string" && canParseUrl(own) ? new URL(own).origin : this.#origin;
    return { server: new BlueskyServer(origin, { ...parts, token: accessJwt }), did, handle };
  }

  async #toRecord(copy: CopyToPost, server: BlueskyServer): Promise<object> {
    const { parts, permalink, lang, warning, card, replyTo } = copy;
    // Bluesky has no content warnings: what is behind one is read on the page.
    const shown = warning === null ? parts : [{ text: warning, url: null }];
    const measure = ({ text }: TextPart) => countGraphemes(text);
    const reply = replyTo === null ? null : await this.#findReply(replyTo);
    const images = warning === null ? await uploadPictures(copy.pictures, server) : [];
    return {
      $type: POSTS,
      ...toRichText(fitParts(shown, permalink, { limit: LIMIT, measure })),
      createdAt: new Date(this.#parts.now()).toISOString(),
      ...(lang !== null && { langs: [lang] }),
      ...(reply && { reply }),
      ...(images.length > 0 && { embed: { $type: "app.bsky.embed.images", images } }),
      ...(images.length === 0 && card && { embed: toCard(permalink, card, warning) }),
    };
  }

  /** @throws NetworkError `source-refused` for a URL that is no post */
  async #findReply(url: string): Promise<object> {
    const { sleep: _, ...parts } = this.#parts;
    const found = parsePostUrl(url);
    if (found === null) throw new NetworkError("source-refused", `${url} is no post on Bluesky.`, 400, null);
    const query = new URLSearchParams({ uri: found.id, depth: "0", parentHeight: "0" });
    const { value } = await new BlueskyServer(APP_VIEW, parts).request(`app.bsky.feed.getPostThread?${query}`, Thread);
    const { uri, cid, record } = value.thread.post;
    return { root: record.reply?.root ?? { uri, cid }, parent: { uri, cid } };
  }
}

async function send<T>(
  server: BlueskyServer,
  name: string,
  schema: v.GenericSchema<unknown, T>,
  body: object,
): Promise<T> {
  const headers = { "content-type": "application/json" };
  const request = { method: "POST", headers, body: JSON.stringify(body), isHttpsNeeded: true } as const;
  return (await server.request(name, schema, request)).value;
}

async function uploadPictures(pictures: CopyToPost["pictures"], server: BlueskyServer): Promise<object[]> {
  const images: object[] = [];
  for (const { bytes, type, alt } of pictures.slice(0, PICTURES)) {
    if (bytes.length > PICTURE_BYTES) continue;
    const headers = { "content-type": type };
    const request = { method: "POST", headers, body: bytes } as const;
    const { value } = await server.request("com.atproto.repo.uploadBlob", Blob, request);
    const aspectRatio = readRatio(bytes, type as CleanPicture["type"]);
    images.push({
      image: value.blob,
      alt: [...alt].slice(0, ALT_LENGTH).join(""),
      ...(aspectRatio && { aspectRatio }),
    });
  }
  return images;
}

function readRatio(bytes: Uint8Array, type: CleanPicture["type"]): { width: number; height: number } | null {
  try {
    return readDimensions({ bytes, type });
  } catch (error) {
    return ifTwtxtError(() => null)(error);
  }
}

function toCard(uri: string, { title, description }: { title: string; description: string }, warning: string | null) {
  const text = (value: string) => [...value].slice(0, CARD_LENGTH).join("");
  const external = { uri, title: text(title), description: warning === null ? text(description) : "" };
  return { $type: "app.bsky.embed.external", external };
}

/** Facets name their parts of the text in bytes of UTF-8. */
function toRichText(parts: readonly TextPart[]): { text: string; facets?: object[] } {
  let text = "";
  const facets: object[] = [];
  for (const { text: shown, url } of parts) {
    const byteStart = Buffer.byteLength(text);
    text += shown;
    if (url === null) continue;
    const features = [{ $type: "app.bsky.richtext.facet#link", uri: url }];
    facets.push({ index: { byteStart, byteEnd: Buffer.byteLength(text) }, features });
  }
  return { text, ...(facets.length > 0 && { facets }) };
}

const DIGITS = "234567abcdefghijklmnopqrstuvwxyz";
/** Keys look like times of these years. */
const FIRST_TIME = BigInt(Date.UTC(2010, 0, 1)) * 1000n;
const YEARS = 12n * 365n * 86_400n * 1_000_000n;

/**
 * The key of the record of a post: a TID, with bits of the permalink's hash in place of a time.
 *
 * @see atproto.com/specs/tid
 */
export function toRecordKey(permalink: string): string {
  const number = BigInt(`0x${hash("sha256", permalink).slice(0, 32)}`);
  let rest = ((FIRST_TIME + ((number >> 10n) % YEARS)) << 10n) | (number & 1023n);
  let key = "";
  for (let i = 0; i < 13; i += 1) {
    key = (DIGITS[Number(rest & 31n)] ?? "") + key;
    rest >>= 5n;
  }
  return key;
}
