// plugin/mentions/answers/answer-endpoints.ts: where readers ask for mail about answers, confirm it and end it. PROTOCOL 2.6
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import {
  allowing,
  type Handler,
  type HttpRequest,
  type HttpResponse,
  json,
  parseBody,
  readBody,
  redirect,
} from "../../http/respond.js";
import { type SignaturePolicy, verifyGuest } from "../../http/signature.js";
import type { AnswerWords } from "../../options/answer-words.js";
import { fillIn } from "../../options/words.js";
import { escapeHtml } from "../../site/html.js";
import { ROUTES } from "../../site/routes.js";
import { isMailAddress } from "../inform/mail.js";
import { privatePage } from "../receive/endpoint-page.js";
import { readForm } from "../receive/receive.js";
import { type AnswerReaders, MESSAGES, type Reader } from "./readers.js";

const BODY_LIMIT = 1024;

interface EndpointParts extends Omit<SignaturePolicy, "allowed"> {
  readers: AnswerReaders;
  /** Whether the site has a server for mail. */
  canSend: boolean;
  /** Whether guests can ask for mail about private messages. */
  hasMessages: boolean;
  words: AnswerWords;
  /** The language of the words. */
  lang: string;
  feedUrl: string;
  /** Called when a mail may be due. */
  onAdded(): void;
}

export function answerEndpoints(parts: EndpointParts): Record<"answers" | "answerLink", Handler> {
  return {
    answers: allowing(ROUTES.answers.methods, (request, { address }) => answerGuest(request, address, parts)),
    answerLink: allowing(ROUTES.answerLink.methods, (request, { params: { id = "" } }) => openLink(request, id, parts)),
  };
}

/**
 * Reads the address that a reader has typed.
 *
 * @returns `null` for none
 * @throws TwtxtError `bad-request`
 */
export function readAddress(typed: string): string | null {
  const address = typed.trim();
  if (address === "") return null;
  if (isMailAddress(address)) return address;
  throw new TwtxtError("bad-request", "The mail address must be one such as dana@dana.example.");
}

/** Handles the request of a guest, signed by its key. The answer is the same whether or not a mail is sent. */
async function answerGuest(request: HttpRequest, network: string, parts: EndpointParts): Promise<HttpResponse> {
  const { readers, canSend, hasMessages, onAdded } = parts;
  // Also without a signature: a form asks this before a reader has a key.
  if (!canSend && request.method !== "DELETE") throw new TwtxtError("not-found", "This site sends no mail.");
  const limit = request.method === "POST" ? BODY_LIMIT : 0;
  const { key: owner, body, spend } = await verifyGuest(request, () => readBody(request, limit), parts);
  if (request.method === "POST") {
    if (!hasMessages) throw new TwtxtError("not-found", "This site sends no mail about private messages.");
    const expected = 'Send JSON with the field "mail", an address.';
    const address = readAddress(parseBody(v.object({ mail: v.string() }), body, expected).mail);
    if (address === null) throw new TwtxtError("bad-request", expected);
    await readers.add({ guest: owner, address, thread: MESSAGES, comment: null }, { network, spend });
    onAdded();
    return json({ mail: (await readers.readState(owner)) ?? "waiting" }, { status: 202 });
  }
  const mail = await readers.readState(owner);
  if (request.method === "GET" || mail === null) return json({ mail });
  await spend();
  await readers.remove(owner);
  return json({ mail: null });
}

/** The page behind the link of a mail. Programs that open links in mails change nothing: only a button does. */
async function openLink(request: HttpRequest, guest: string, parts: EndpointParts): Promise<HttpResponse> {
  const { readers, words, lang, feedUrl } = parts;
  const show = (page: ReturnType<typeof endedPage>) => privatePage(feedUrl, { ...page, lang });
  const form = request.method === "POST" ? await readForm(request) : null;
  const { pathname, search, searchParams } = new URL(request.url);
  const reader = await readers.find(guest, searchParams.get("k") ?? "");
  // RFC 8058: without a page, and again without an error.
  const isOneClick = form?.get("List-Unsubscribe") === "One-Click";
  if (reader && (isOneClick || form?.get("do") === "stop")) await readers.remove(guest);
  if (isOneClick) return { status: 204, headers: {}, body: null };
  if (!reader) return show(endedPage(words, 410));
  if (!form) return show(readerPage(reader, words));
  if (form.get("do") === "stop") return show(endedPage(words, 200));
  if (form.get("do") !== "confirm") throw new TwtxtError("bad-request", 'Expected "do" to be "confirm" or "stop".');
  await readers.confirm(guest);
  return redirect(pathname + search);
}

function readerPage({ address, isConfirmed }: Reader, words: AnswerWords) {
  const title = fillIn(isConfirmed ? words.confirmed : words.question, { address });
  const button = (value: string, text: string) => `<button name="do" value="${value}">${escapeHtml(text)}</button>`;
  const buttons = isConfirmed
    ? button("stop", words.stop)
    : `${button("confirm", words.confirm)}\n${button("stop", words.remove)}`;
  return { title, content: `<form method="post">\n${buttons}\n</form>`, status: 200 };
}

function endedPage(words: AnswerWords, status: number) {
  return { title: words.ended, content: `<p>${escapeHtml(words.endedText)}</p>`, status };
}
