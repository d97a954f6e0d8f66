// plugin/mentions/comments/comment-endpoints.ts: the endpoints of comments and of guests' feeds. PROTOCOL 2.6
import { randomBytes } from "node:crypto";
import type { Clock } from "../../clock.js";
import { TwtxtError, toStatus } from "../../errors.js";
import { spendNonce } from "../../http/nonces.js";
import { publicList } from "../../http/public-list.js";
import { allowing, type Handler, type HttpRequest, json, parseParameters, readBody } from "../../http/respond.js";
import { nonceUsed, verifyHead } from "../../http/signature.js";
import { isKeyText } from "../../keys/key.js";
import { ROUTES } from "../../site/routes.js";
import type { Store } from "../../store/store.js";
import { readAddress } from "../answers/answer-endpoints.js";
import type { MailState, Wish } from "../answers/readers.js";
import { readWords, type StoredMention } from "../mention.js";
import { isBrowser } from "../receive/endpoint-page.js";
import { toSource } from "../reference.js";
import { type CommentFields, NOTHING_TYPED, parseFields, readBodyOfComment, readContents } from "./comment-fields.js";
import { type CommentPages, commentRefusal, replyPage } from "./comment-page.js";
import type { Commenter, Comments } from "./comments.js";
import { formatGuestFeed, isGuest } from "./guest-feed.js";

const NO_BODY = 0;
/** The element of a post that says that a comment waits, shown by `:target`. */
const HELD_NOTE = "#twtxt-comment-held";

/** The mails to readers about answers. */
interface Mails {
  add(wish: Wish, network: string): Promise<MailState>;
  readState(guest: string): Promise<MailState>;
  removeComment(guest: string, id: string): Promise<void>;
}

interface EndpointParts {
  comments: Comments;
  /** The authority of signed requests, see `SignaturePolicy`. */
  authority: string;
  store: Store;
  now: Clock;
  /** Pages in the language of a post. @param target - its URL */
  choosePages(target: string): CommentPages;
  /** The tag of the CDN's copies of feeds. */
  cacheTag: string;
  /** Those who are told of answers by mail; `null` for a site that tells nobody. */
  mails: (() => Promise<Mails>) | null;
  /** Called when a comment was stored that is new or has changed. */
  onStored(comment: StoredMention): void;
}

/** Handles the comments of a site, each comment, and the feed of each guest. */
export function commentEndpoints(parts: EndpointParts): Record<"comments" | "comment" | "guestFeed", Handler> {
  return {
    comments: allowing(ROUTES.comments.methods, (request, { address }) =>
      request.method === "GET" ? read(request, parts) : post(request, address, parts),
    ),
    comment: allowing(ROUTES.comment.methods, (request, { address, params }) =>
      request.method === "DELETE"
        ? remove(request, address, params.id ?? "", parts)
        : edit(request, address, params.id ?? "", parts),
    ),
    guestFeed: publicList(
      ROUTES.guestFeed.methods,
      { tag: parts.cacheTag, seconds: 3600, parameters: [], type: "text/plain; charset=utf-8" },
      (url) => readFeed(url, parts),
    ),
  };
}

async function read(request: HttpRequest, parts: EndpointParts): Promise<Response> {
  const { searchParams } = new URL(request.url);
  if (isSigned(request) || !isBrowser(request) || !searchParams.has("reply-to")) return listOwn(request, parts);
  const given = parseParameters(request.url, ["target", "reply-to"]);
  const fields = { ...NOTHING_TYPED, ...given };
  try {
    const page = replyPage(fields, await parts.comments.readAnswered(fields), parts.choosePages(fields.target));
    page.headers.set("cache-control", "private, no-store");
    return page;
  } catch (error) {
    if (!(error instanceof TwtxtError) || toStatus(error.code) >= 500) throw error;
    return commentRefusal(error, fields, parts.choosePages(fields.target));
  }
}

async function post(request: HttpRequest, address: string, parts: EndpointParts): Promise<Response> {
  const { comments, onStored } = parts;
  const isForm = isBrowser(request) && !isSigned(request);
  let fields: CommentFields | null = null;
  try {
    const { by, body } = await readSender(request, address, parts);
    fields = parseFields(request, body);
    const mailAddress = readAddress(fields.mail);
    const stored = await comments.add(fields, readContents(fields), by);
    onStored(stored);
    const mail = await addAddress(mailAddress, stored, by, parts);
    if (!isForm) return json({ ...toAnswer(stored, by), ...mail }, { status: 202 });
    return new Response(null, { status: 303, headers: { location: stored.target + HELD_NOTE } });
  } catch (error) {
    if (!isForm || !fields || !(error instanceof TwtxtError) || toStatus(error.code) >= 500) throw error;
    return commentRefusal(error, fields, parts.choosePages(fields.target));
  }
}

async function edit(request: HttpRequest, address: string, id: string, parts: EndpointParts): Promise<Response> {
  const { by, body } = await readSigned(request, address, parts);
  const fields = parseFields(request, body);
  const mailAddress = readAddress(fields.mail);
  const stored = await parts.comments.edit(id, readContents(fields), by);
  if (!stored) throw noSuchComment();
  parts.onStored(stored);
  return json({ ...toAnswer(stored, by), ...(await addAddress(mailAddress, stored, by, parts)) });
}

/** @returns what the answer says about mail, nothing without an address */
async function addAddress(
  address: string | null,
  { id, target }: StoredMention,
  by: Commenter,
  { mails }: EndpointParts,
): Promise<{ mail?: MailState }> {
  if (!mails || address === null) return {};
  const wish = { guest: by.guest, address, thread: target, comment: id };
  const mail = await (await mails()).add(wish, by.address);
  return mail === null ? {} : { mail };
}

async function remove(request: HttpRequest, address: string, id: string, parts: EndpointParts): Promise<Response> {
  const { by } = await readSigned(request, address, parts);
  if (!(await parts.comments.remove(id, by))) throw noSuchComment();
  await (await parts.mails?.())?.removeComment(by.guest, id);
  return json({ id });
}

async function listOwn(request: HttpRequest, parts: EndpointParts): Promise<Response> {
  const { by } = await readSigned(request, "", parts);
  const { guest } = parseParameters(request.url, ["guest"]);
  if (!guest) throw new TwtxtError("bad-request", 'The parameter "guest" is missing.');
  if (guest !== by.guest) throw new TwtxtError("not-allowed", "Each reader can list their own comments only.");
  const own = await parts.comments.list(by.guest);
  const mail = await (await parts.mails?.())?.readState(by.guest);
  return json({ comments: own.map(({ comment, answers }) => ({ ...toOwn(comment), answers })), ...(mail && { mail }) });
}

async function readFeed(url: string, { comments }: EndpointParts): Promise<string> {
  const { origin, pathname } = new URL(url);
  const guest = pathname.slice(pathname.lastIndexOf("/") + 1).replace(/\.txt$/, "");
  const own = isGuest(guest) ? await comments.list(guest) : [];
  const shown = own.flatMap(({ comment }) => (comment.state === "shown" ? [comment] : []));
  const [first] = shown;
  if (!first) throw new TwtxtError("not-found", `There is no such feed at ${origin}.`);
  return formatGuestFeed(shown, first.identity);
}

function toAnswer({ id, state }: StoredMention, { guest }: Commenter) {
  return { id, guest, state };
}

/** A comment as its reader sees it. */
function toOwn(comment: StoredMention) {
  const { id, state, target, author, subject, hash, hashV1, former = [], published, received, html } = comment;
  const [source, text, site] = [toSource(comment), readWords(comment), author.page ?? null];
  const names = { hash, hashV1, former, replyTo: subject };
  return { id, state, source, target, text, html, name: author.name, site, ...names, published, received };
}

function noSuchComment(): TwtxtError {
  return new TwtxtError("not-found", "There is no such comment.");
}

function isSigned({ headers }: HttpRequest): boolean {
  return headers.has("signature") || headers.has("signature-input");
}

/** Reads a request that may be signed. @throws TwtxtError as {@link readSigned} for a signed one, else `not-allowed` */
async function readSender(request: HttpRequest, address: string, parts: EndpointParts) {
  if (isSigned(request)) return readSigned(request, address, parts);
  // A page of another site would have its visitors write, each from an address of their own.
  if (request.headers.get("sec-fetch-site") === "cross-site") {
    throw new TwtxtError("not-allowed", "Write comments on a page of this site.");
  }
  const guest = `anon-${randomBytes(8).toString("hex")}`;
  const by: Commenter = { guest, isSigned: false, address, spend: async () => {} };
  return { by, body: await readBodyOfComment(request) };
}

/**
 * Reads a request that is signed by any guest.
 *
 * @throws TwtxtError `not-signed`, `wrong-clock`, and those of the body
 */
async function readSigned(request: HttpRequest, address: string, { authority, store, now }: EndpointParts) {
  const { owner, nonce, checkBody } = verifyHead(request, { authority, allowed: { has: isKeyText }, now });
  const body = await checkBody(request.method === "POST" ? readBodyOfComment(request) : readBody(request, NO_BODY));
  // Only what is stored costs a record of its nonce: anyone can make a key and sign any number of requests.
  const spend = async () => {
    if (!(await spendNonce(store, nonce))) throw nonceUsed();
  };
  const by: Commenter = { guest: owner, isSigned: true, address, spend };
  return { by, body };
}
