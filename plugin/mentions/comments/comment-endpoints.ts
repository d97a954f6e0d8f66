// plugin/mentions/comments/comment-endpoints.ts: the endpoints of comments and of guests' feeds. PROTOCOL 2.6
import { TwtxtError } from "../../errors.js";
import { publicList } from "../../http/public-list.js";
import {
  allowing,
  answerPerson,
  type Handler,
  type HttpRequest,
  type HttpResponse,
  isBrowser,
  json,
  parseParameters,
  readBody,
  redirect,
} from "../../http/respond.js";
import { type GuestRequest, type SignaturePolicy, verifyGuest } from "../../http/signature.js";
import type { OwnComment } from "../../site/mention-list.js";
import { ROUTES } from "../../site/routes.js";
import { readAddress } from "../answers/answer-endpoints.js";
import type { AnswerReaders, MailState, Wish } from "../answers/readers.js";
import { publicMention } from "../inform/list-json.js";
import { readWords, type StoredMention } from "../mention.js";
import { NOTHING_TYPED, parseFields, readBodyOfComment } from "./comment-fields.js";
import { type CommentPages, commentRefusal, replyPage } from "./comment-page.js";
import type { Comments } from "./comments.js";
import { formatGuestFeed, readGuest } from "./guest-feed.js";

const NO_BODY = 0;
/** The element of a post that says that a comment waits, shown by `:target`. */
const HELD_NOTE = "#twtxt-comment-held";

/** The mails to readers about answers. */
interface Mails extends Pick<AnswerReaders, "readState" | "removeComment"> {
  add(wish: Wish, network: string): Promise<MailState>;
}

interface EndpointParts extends Omit<SignaturePolicy, "allowed"> {
  comments: Comments;
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
  const feeds = { tag: parts.cacheTag, seconds: 3600, parameters: [], type: "text/plain; charset=utf-8" };
  return {
    comments: allowing(ROUTES.comments.methods, (request, { address }) =>
      request.method === "GET" ? read(request, parts) : store(request, { address, id: null }, parts),
    ),
    comment: allowing(ROUTES.comment.methods, (request, { address, params: { id = "" } }) =>
      request.method === "DELETE" ? remove(request, { address, id }, parts) : store(request, { address, id }, parts),
    ),
    guestFeed: publicList(ROUTES.guestFeed.methods, feeds, (_, { guest = "" }) => readFeed(guest, parts)),
  };
}

/** Lists a guest's own comments, or shows a browser the form to answer a reply. */
async function read(request: HttpRequest, parts: EndpointParts): Promise<HttpResponse> {
  const { searchParams } = new URL(request.url);
  if (isSigned(request) || !isBrowser(request) || !searchParams.has("reply-to")) return listOwn(request, parts);
  const fields = { ...NOTHING_TYPED, ...parseParameters(request.url, ["target", "reply-to"]) };
  const pages = () => parts.choosePages(fields.target);
  return answerPerson(
    async () => replyPage(fields, await parts.comments.readAnswered(fields), pages()),
    (error) => commentRefusal(error, fields, pages()),
  );
}

/** Stores a comment. @param asked - the client's network address, and the id of the comment that is replaced; `null` for a new one */
async function store(
  request: HttpRequest,
  { address, id }: { address: string; id: string | null },
  parts: EndpointParts,
): Promise<HttpResponse> {
  const { comments, mails, onStored } = parts;
  const isUnsigned = id === null && !isSigned(request);
  const { body, ...sender } = isUnsigned ? await readUnsigned(request) : await readSigned(request, parts);
  const fields = parseFields(request, body);
  const isForm = isUnsigned && isBrowser(request);
  const answer = async () => {
    const mailAddress = readAddress(fields.mail);
    const by = { ...sender, address };
    const stored = id === null ? await comments.add(fields, by) : await comments.edit(id, fields, by);
    onStored(stored);
    const { target, state } = stored;
    const guest = readGuest(stored.identity);
    const wish = mailAddress === null ? null : { guest, address: mailAddress, thread: target, comment: stored.id };
    const mail = wish && (await (await mails?.())?.add(wish, address));
    if (isForm) return redirect(target + HELD_NOTE);
    return json({ id: stored.id, guest, state, ...(mail && { mail }) }, { status: id === null ? 202 : 200 });
  };
  return isForm
    ? answerPerson(answer, (error) => commentRefusal(error, fields, parts.choosePages(fields.target)))
    : answer();
}

async function remove(
  request: HttpRequest,
  { address, id }: { address: string; id: string },
  parts: EndpointParts,
): Promise<HttpResponse> {
  const sender = await readSigned(request, parts);
  await parts.comments.remove(id, { ...sender, address });
  await (await parts.mails?.())?.removeComment(sender.key, id);
  return json({ id });
}

async function listOwn(request: HttpRequest, parts: EndpointParts): Promise<HttpResponse> {
  const { key } = await readSigned(request, parts);
  const { guest } = parseParameters(request.url, ["guest"]);
  if (!guest) throw new TwtxtError("bad-request", 'The parameter "guest" is missing.');
  if (guest !== key) throw new TwtxtError("not-allowed", "Each reader can list their own comments only.");
  const comments = (await parts.comments.list(key)).map(({ comment, answers }) => toOwn(comment, answers));
  const mail = await (await parts.mails?.())?.readState(key);
  return json({ comments, ...(mail && { mail }) });
}

async function readFeed(guest: string, { comments }: EndpointParts): Promise<string> {
  const own = await comments.list(guest);
  const shown = own.flatMap(({ comment }) => (comment.state === "shown" ? [comment] : []));
  const [first] = shown;
  if (!first) throw new TwtxtError("not-found", "There is no such feed.");
  return formatGuestFeed(shown, first.identity);
}

function toOwn(comment: StoredMention, answers: number): OwnComment {
  const { id, state, author, published } = comment;
  const typed = { text: readWords(comment), name: author.name, site: author.page ?? null };
  return { ...publicMention({ ...comment, state: "shown" }), id, state, ...typed, published, answers };
}

function isSigned({ headers }: HttpRequest): boolean {
  return headers.has("signature") || headers.has("signature-input");
}

async function readUnsigned(request: HttpRequest): Promise<Omit<GuestRequest, "key"> & { key: null }> {
  // A page of another site would have its visitors write, each from an address of their own.
  if (request.headers.get("sec-fetch-site") === "cross-site") {
    throw new TwtxtError("not-allowed", "Write comments on a page of this site.");
  }
  return { key: null, body: await readBodyOfComment(request), spend: async () => {} };
}

/** @throws TwtxtError `not-signed`, `wrong-clock`, and those of the body */
function readSigned(request: HttpRequest, parts: EndpointParts): Promise<GuestRequest> {
  const read = () => (request.method === "POST" ? readBodyOfComment(request) : readBody(request, NO_BODY));
  return verifyGuest(request, read, parts);
}
