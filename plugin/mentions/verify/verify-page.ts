// plugin/mentions/verify/verify-page.ts: whether somebody's page links to us, a classic Webmention.
import { TwtxtError } from "../../errors.js";
import { parseFeed } from "../../feed/feed.js";
import type { GuardedResponse } from "../../http/guarded-fetch.js";
import type { TimeSlices } from "../../http/time-slices.js";
import type { Claim, Proof, ProvenMention } from "../mention.js";
import { type AskSource, disproven, verdictOnAnswer } from "./ask-source.js";
import { mentionInHtml } from "./mention-in-html.js";
import { textSaid } from "./said.js";
import { textPieces } from "./text-pieces.js";
import { urlsInText } from "./urls-in-text.js";

const PAGE_BYTES = 1024 * 1024;
const ACCEPT = "text/html, text/plain;q=0.9, */*;q=0.1";
/** How far a browser looks for what a page says of its own characters. */
const HEAD_BYTES = 1024;
/** No address goes beyond these. */
const AROUND_ADDRESS = /[\s<>"`]/g;

/** A page, as far as it could be read. */
interface Page {
  kind: "feed" | "html" | "text" | "other";
  text: string;
  /** Why it was not read to its end; `null` where it was. */
  trouble: TwtxtError | null;
}

/**
 * Looks for the link in a page.
 *
 * @param isTarget - whether a URL is the claim's target, under any of its names
 * @throws TwtxtError as {@link AskSource}, and what a body throws where no link stood before
 * @see PROTOCOL 2.4, "The proof"
 */
export async function verifyPage(
  claim: Claim,
  ask: AskSource,
  isTarget: (url: string) => boolean,
  slices: TimeSlices,
): Promise<Proof> {
  const answer = await ask(claim.source, PAGE_BYTES, ACCEPT);
  const verdict = verdictOnAnswer(answer);
  if (verdict) return verdict;
  const { kind, text, trouble } = await readPage(answer, slices);
  const identity = answer.url;
  if (kind === "feed") {
    const why = `${identity} is a feed: say which twt, as in ${identity}#:~:text=2026-01-02T03:04:05Z.`;
    return disproven("say-which-twt", why, { isGone: false, identity });
  }

  // Of an address that was cut off nobody knows how it goes on; of HTML a parser leaves such an end out itself.
  const whole = trouble && kind === "text" ? text.slice(0, text.search(/(?<!\S)\S*$/)) : text;
  const mention = await mentionIn(kind, whole, identity, isTarget, slices);
  if (mention) return { outcome: "proven", mention };
  if (trouble) throw trouble;
  return disproven("no-such-mention", `${identity} does not link to ${claim.target.url}.`, {
    isGone: kind !== "other",
    identity,
  });
}

async function mentionIn(
  kind: Page["kind"],
  text: string,
  identity: string,
  isTarget: (url: string) => boolean,
  slices: TimeSlices,
): Promise<ProvenMention | null> {
  if (kind === "html") return mentionInHtml(text, identity, isTarget, slices);
  const hasTarget = (piece: string) => urlsInText(piece).some(isTarget);
  if (kind !== "text" || !(await slices.some(textPieces(text, AROUND_ADDRESS), hasTarget))) return null;
  return {
    identity,
    timestamp: null,
    instant: null,
    type: "mention",
    author: { name: new URL(identity).host, url: identity, photo: null },
    text: textSaid(text),
    published: null,
    subject: null,
  };
}

/** What came before the limit of size, or before the answer broke off, counts. */
async function readPage({ body, headers }: GuardedResponse, slices: TimeSlices): Promise<Page> {
  const type = headers["content-type"] ?? "";
  const chunks: Uint8Array[] = [];
  let trouble: TwtxtError | null = null;
  try {
    for await (const chunk of body) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    trouble = error;
  }
  const text = decoded(Buffer.concat(chunks), type);
  return { kind: await kindOf(text, type, slices), text, trouble };
}

/** A feed is one whatever it is served as, and a page none, whatever stands in it at the start of a line. */
async function kindOf(text: string, type: string, slices: TimeSlices): Promise<Page["kind"]> {
  const startsAsHtml = /^\s*</.test(text);
  const hasTwt = (lines: string) => parseFeed(lines).twts.length > 0;
  if (!startsAsHtml && (await slices.some(textPieces(text, /\n/g), hasTwt))) return "feed";
  if (/^\s*(text\/html|application\/xhtml\+xml)\b/i.test(type)) return "html";
  if (type.trim() === "") return startsAsHtml ? "html" : "text";
  return /^\s*text\/(plain|markdown|gemini)\b/i.test(type) ? "text" : "other";
}

/** By the characters that the answer, or else the page's head, claims to be in; UTF-8 where these are not known. */
function decoded(bytes: Buffer, type: string): string {
  const head = bytes.toString("latin1", 0, HEAD_BYTES);
  const [, label = "utf-8"] =
    /\bcharset\s*=\s*["']?([\w:.-]+)/i.exec(type) ?? /<meta[^>]*charset\s*=\s*["']?([\w:.-]+)/i.exec(head) ?? [];
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
