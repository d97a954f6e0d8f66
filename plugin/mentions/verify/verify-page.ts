// plugin/mentions/verify/verify-page.ts: verifies a mention in a web page (Webmention).
import { TwtxtError } from "../../errors.js";
import { parseFeed } from "../../feed/feed.js";
import { startsAsMarkup } from "../../http/feed-file.js";
import type { GuardedResponse } from "../../http/guard.js";
import { normalUrl } from "../../http/same-url.js";
import type { TimeSlices } from "../../http/time-slices.js";
import type { Claim, ProvenMention } from "../mention.js";
import type { SourceResult } from "./identity.js";
import { type ReadHtml, readHtml } from "./mention-in-html.js";
import { quoteText } from "./quoted-text.js";
import { textPieces } from "./text-pieces.js";
import { twtOfPage } from "./twt-of-page.js";
import { urlsInText } from "./urls-in-text.js";
import { disproven, type VerificationContext, verdictOnAnswer } from "./verification-context.js";

const PAGE_BYTES = 1024 * 1024;
const ACCEPT = "text/html, text/plain;q=0.9, */*;q=0.1";
/** Browsers look for `<meta charset>` in this many bytes. */
const HEAD_BYTES = 1024;
/** Characters that end an address. */
const AROUND_ADDRESS = /[\s<>"`]/g;

/** A page or its readable start. */
interface Page {
  kind: "feed" | "html" | "text" | "other";
  text: string;
  /** Why reading stopped early; `null` if it did not. */
  trouble: TwtxtError | null;
}

/**
 * Looks for a link to the target in a page.
 *
 * @throws TwtxtError as the guard does, and what a body throws before a link was found
 * @see PROTOCOL 2.4, "The proof"
 */
export async function verifyPage(claim: Claim, context: VerificationContext): Promise<SourceResult> {
  const answer = await context.ask(claim.source, PAGE_BYTES, ACCEPT);
  const verdict = verdictOnAnswer(answer);
  if (verdict) return verdict;
  const { kind, text, trouble } = await readPage(answer, context.slices);
  const identity = normalUrl(answer.url) ?? answer.url;
  if (kind === "feed") {
    const why = `${identity} is a feed. Name one twt, as in ${identity}#:~:text=2026-01-02T03:04:05Z.`;
    return disproven("say-which-twt", why, { isGone: false, identity });
  }

  // The last URL of a truncated text may be incomplete. In HTML, the parser drops an unfinished tag.
  const whole = trouble && kind === "text" ? text.slice(0, text.search(/(?<!\S)\S*$/)) : text;
  const { mention, declared, feed, isWhole } = await readSource(kind, whole, identity, context);
  if (mention) {
    const twt = feed === null ? null : await twtOfPage(feed, mention, claim.target, context);
    return { outcome: "proven", mention: { ...mention, ...twt }, declared, contents: text };
  }
  if (trouble) throw trouble;
  return disproven("no-such-mention", `${identity} does not link to ${claim.target.url}.`, {
    isGone: kind !== "other" && isWhole && text.trim() !== "",
    identity: answer.url,
  });
}

async function readSource(
  kind: Page["kind"],
  text: string,
  identity: string,
  { site, slices, readAlone }: VerificationContext,
): Promise<ReadHtml> {
  if (kind === "html") return readAlone(() => readHtml(text, identity, { site, slices }));
  const hasTarget = (piece: string) => urlsInText(piece).some(site.isTarget);
  const isMention = kind === "text" && (await slices.some(textPieces(text, AROUND_ADDRESS), hasTarget));
  const mention: ProvenMention = {
    identity,
    isDeclared: false,
    timestamp: null,
    instant: null,
    type: "mention",
    author: { name: new URL(identity).host, url: identity, photo: null },
    text: quoteText(text),
    published: null,
    subject: null,
    about: null,
  };
  return { mention: isMention ? mention : null, declared: null, feed: null, isWhole: true };
}

/** Keeps what was read before the size limit or a failure. */
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

/** A feed counts as one under any content type; a page never does. */
async function kindOf(text: string, type: string, slices: TimeSlices): Promise<Page["kind"]> {
  const startsAsHtml = startsAsMarkup(text);
  const hasTwt = (lines: string) => parseFeed(lines).twts.length > 0;
  if (!startsAsHtml && (await slices.some(textPieces(text, /\n/g), hasTwt))) return "feed";
  if (/^\s*(text\/html|application\/xhtml\+xml)\b/i.test(type)) return "html";
  if (type.trim() === "") return startsAsHtml ? "html" : "text";
  return /^\s*text\/(plain|markdown|gemini)\b/i.test(type) ? "text" : "other";
}

/** Decodes by the charset of the answer, else of the page's head, else UTF-8. */
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
