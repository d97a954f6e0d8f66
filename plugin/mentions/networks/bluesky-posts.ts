// plugin/mentions/networks/bluesky-posts.ts: posts and deletes records on Bluesky.
import { hash } from "node:crypto";
import * as v from "valibot";
import { once } from "../../later.js";
import { canParseUrl } from "../../url.js";
import { APP_VIEW, POSTS, parsePostUrl, toAccountPage, toCopy, XRPC } from "./bluesky.js";
import { countGraphemes, fitParts, type TextPart } from "./copy-text.js";
import type { Copy, CopyToPost, Picture, PostingAccount, PostingParts } from "./network.js";
import { ifRefused, NetworkError, NetworkServer } from "./network-json.js";

/** The server that knows the servers of most accounts. */
const ENTRYWAY = "https://bsky.social";
/** In graphemes. The server also refuses more than 3,000 bytes. */
const LIMIT = 300;
const BYTES_PER_GRAPHEME = 10;
const MOST_PICTURES = 4;
const PICTURE_BYTES = 1_000_000;
const ALT_LENGTH = 2000;
const CARD_LENGTH = 300;

const Service = v.object({ id: v.string(), serviceEndpoint: v.unknown() });
const Session = v.object({
  accessJwt: v.string(),
  did: v.string(),
  handle: v.string(),
  didDoc: v.nullish(v.object({ service: v.optional(v.array(Service), []) })),
});
const Uploaded = v.object({ blob: v.record(v.string(), v.unknown()) });
const Reference = v.object({ uri: v.string(), cid: v.string() });
const Record = v.object({ reply: v.optional(v.object({ root: Reference })) });
const Thread = v.object({ thread: v.object({ post: v.object({ ...Reference.entries, record: Record }) }) });

/** Without edits: the app shows the first version of a post. */
export class BlueskyPosts implements PostingAccount {
  readonly network = "bluesky";
  readonly place: string;
  readonly #signIn = once(() => this.#createSession());

  /** @param credentials - the handle, and an app password. @param origin - where the account signs in */
  constructor(
    readonly credentials: { identifier: string; password: string },
    readonly parts: PostingParts,
    readonly origin = ENTRYWAY,
  ) {
    this.place = toAccountPage(credentials.identifier);
  }

  async check(): Promise<{ account: string; permissions: string | null }> {
    return { account: toAccountPage((await this.#signIn()).handle), permissions: null };
  }

  /** The key of a record follows from the permalink, so there is at most one record. */
  async find(permalink: string): Promise<Copy | null> {
    const { server, did } = await this.#signIn();
    const rkey = toRecordKey(permalink);
    const query = new URLSearchParams({ repo: did, collection: POSTS, rkey });
    const found = await server.request(`com.atproto.repo.getRecord?${query}`, v.unknown()).catch(ifRefused(null, 400));
    return found && toCopy(did, rkey);
  }

  async post(copy: CopyToPost): Promise<Copy> {
    const { server, did } = await this.#signIn();
    const rkey = toRecordKey(copy.permalink);
    const body = { repo: did, collection: POSTS, rkey, record: await this.#toRecord(copy, server) };
    await server.send("POST", "com.atproto.repo.putRecord", v.unknown(), body);
    return toCopy(did, rkey);
  }

  async delete({ id }: Copy): Promise<void> {
    const { server, did } = await this.#signIn();
    const body = { repo: did, collection: POSTS, rkey: id.slice(id.lastIndexOf("/") + 1) };
    await server.send("POST", "com.atproto.repo.deleteRecord", v.unknown(), body);
  }

  async #createSession(): Promise<{ server: NetworkServer; did: string; handle: string }> {
    const entryway = new NetworkServer(this.origin + XRPC, this.parts);
    const method = "com.atproto.server.createSession";
    const { accessJwt, did, handle, didDoc } = await entryway.send("POST", method, Session, this.credentials);
    const own = didDoc?.service.find(({ id }) => id.endsWith("#atproto_pds"))?.serviceEndpoint;
    const origin = typeof own === "string" && canParseUrl(own) ? new URL(own).origin : this.origin;
    return { server: new NetworkServer(origin + XRPC, this.parts, accessJwt), did, handle };
  }

  async #toRecord(copy: CopyToPost, server: NetworkServer): Promise<object> {
    const { parts, permalink, lang, warning, replyTo } = copy;
    // Bluesky has no content warnings: what is behind one is read on the page.
    const shown = warning === undefined ? parts : [{ text: warning, url: null }];
    return {
      $type: POSTS,
      ...toRichText(fitParts(shown, permalink, LIMIT, measure)),
      createdAt: new Date(this.parts.now()).toISOString(),
      langs: lang && [lang],
      reply: replyTo && (await this.#findReply(replyTo)),
      embed: await toEmbed(copy, server),
    };
  }

  /** @throws NetworkError `source-refused` for a URL that is no post */
  async #findReply(url: string): Promise<object> {
    const found = parsePostUrl(url);
    if (found === null) throw new NetworkError("source-refused", `${url} is no post on Bluesky.`, 400, null);
    const query = new URLSearchParams({ uri: found.id, depth: "0", parentHeight: "0" });
    const view = new NetworkServer(APP_VIEW + XRPC, this.parts);
    const { uri, cid, record } = (await view.request(`app.bsky.feed.getPostThread?${query}`, Thread)).value.thread.post;
    return { root: record.reply?.root ?? { uri, cid }, parent: { uri, cid } };
  }
}

/** A card, with a picture if the post has one, or else the pictures. What is behind a content warning is left out. */
async function toEmbed(copy: CopyToPost, server: NetworkServer): Promise<object | undefined> {
  const { permalink: uri, title, description = "", warning, attach } = copy;
  const count = warning !== undefined ? 0 : title === undefined ? MOST_PICTURES : 1;
  const images = await attach({ count, bytes: PICTURE_BYTES }, (picture) => toImage(picture, server));
  if (title === undefined) return images.length > 0 ? { $type: "app.bsky.embed.images", images } : undefined;
  const about = warning === undefined ? shorten(description, CARD_LENGTH) : "";
  const external = { uri, title: shorten(title, CARD_LENGTH), description: about, thumb: images[0]?.image };
  return { $type: "app.bsky.embed.external", external };
}

async function toImage({ bytes, type, alt, width, height }: Picture, server: NetworkServer) {
  const headers = { "content-type": type };
  const { blob: image } = await server.send("POST", "com.atproto.repo.uploadBlob", Uploaded, bytes, headers);
  return { image, alt: shorten(alt, ALT_LENGTH), aspectRatio: { width, height } };
}

function shorten(text: string, length: number): string {
  return [...text].slice(0, length).join("");
}

function measure({ text }: TextPart): number {
  return Math.max(countGraphemes(text), Buffer.byteLength(text) / BYTES_PER_GRAPHEME);
}

/** Facets name their parts of the text in bytes of UTF-8. */
function toRichText(parts: readonly TextPart[]): { text: string; facets: object[] } {
  let text = "";
  const facets: object[] = [];
  for (const { text: shown, url } of parts) {
    const byteStart = Buffer.byteLength(text);
    text += shown;
    if (url === null) continue;
    const features = [{ $type: "app.bsky.richtext.facet#link", uri: url }];
    facets.push({ index: { byteStart, byteEnd: Buffer.byteLength(text) }, features });
  }
  return { text, facets };
}

const DIGITS = "234567abcdefghijklmnopqrstuvwxyz";

/**
 * The key of the record of a post: a TID, with bits of the permalink's hash in place of a time. By its first two digits, the
 * time is in the years 2005 to 2023.
 *
 * @see atproto.com/specs/tid
 */
function toRecordKey(permalink: string): string {
  const bytes = hash("sha256", permalink, "buffer").subarray(0, 12);
  return `3${Array.from(bytes, (byte, i) => DIGITS[byte % (i === 0 ? 16 : 32)]).join("")}`;
}
