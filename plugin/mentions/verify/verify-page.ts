// plugin/mentions/verify/verify-page.ts: verifies a mention in a web page (Webmention).
import { ifTwtxtError, type TwtxtError } from "../../errors.js";
import { parseFeed } from "../../feed/feed.js";
import { parseInSlices, startsAsMarkup } from "../../http/feed-file.js";
import type { GuardedResponse } from "../../http/guard.js";
import { isSameUrl, normalUrl } from "../../http/same-url.js";
import { type TimeSlices, textPieces } from "../../http/time-slices.js";
import type { Claim, ProvenMention, Target } from "../mention.js";
import { mentionByPage, type ReadHtml, readHtml } from "./mention-in-html.js";
import { quoteText, urlsInText } from "./source-text.js";
import {
  disproven,
  ownCopy,
  type SourceResult,
  type VerificationContext,
  verdictOnAnswer,
} from "./verification-context.js";
import { isNamed, mentionOfTwt } from "./verify-feed.js";

/** Size limit of a page, and of the feed that it names. */
const PAGE_BYTES = 1024 * 1024;
const ACCEPT = "text/html, text/plain;q=0.9, */*;q=0.1";
const FEED_ACCEPT = "text/plain, */*;q=0.5";
/** Browsers look for `<meta charset>` in this many bytes. */
const HEAD_BYTES = 1024;
const AROUND_URL = /[\s<>"`]/g;

interface Page {
  kind: "feed" | "html" | "text" | "other";
  /** All of it, or its readable start. */
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
    return disproven("say-which-twt", why, { identity });
  }

  // The last URL of a truncated text may be incomplete. In HTML, the parser drops an unfinished tag.
  const whole = trouble && kind === "text" ? text.slice(0, text.search(/(?<!\S)\S*$/)) : text;
  const { mention, declared, endpoint, feed, isWhole } = await readSource(kind, whole, identity, context);
  if ([declared, endpoint].some((url) => url !== null && context.site.isOwn(url))) return ownCopy();
  if (mention) {
    const twt = feed === null ? null : await twtOfPage(feed, mention, claim.target, context);
    const isDeclared = declared !== null && isSameUrl(declared, identity);
    return { outcome: "proven", mention: { ...mention, isDeclared, ...twt }, declared, contents: text };
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
  const isMention = kind === "text" && (await slices.some(textPieces(text, AROUND_URL), hasTarget));
  return {
    mention: isMention ? mentionByPage(identity, { text: quoteText(text) }) : null,
    declared: null,
    endpoint: null,
    feed: null,
    isWhole: true,
  };
}

/** Keeps what was read before the size limit or a failure. */
async function readPage({ headers, start }: GuardedResponse, slices: TimeSlices): Promise<Page> {
  const type = headers["content-type"] ?? "";
  const { bytes, trouble } = await start();
  const text = decoded(bytes, type);
  return { kind: await detectKind(text, type, slices), text, trouble };
}

/** A feed counts as one under any content type; a page never does. */
async function detectKind(text: string, type: string, slices: TimeSlices): Promise<Page["kind"]> {
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

/**
 * Finds a page's twt, whose nick, text and time are better than the page's title. It is the twt that mentions the target
 * and links to the page, else the only one that mentions the target.
 *
 * @param feedUrl - ignored unless on the page's own host
 * @param page - the mention as found in the page
 * @returns fields to replace in `page`; `null` if there is no such twt
 */
async function twtOfPage(
  feedUrl: string,
  page: ProvenMention,
  target: Target,
  { ask, checkLimits, site, slices }: VerificationContext,
): Promise<Partial<ProvenMention> | null> {
  const isOwn = page.type === "mention" || page.type === "reply";
  if (!isOwn || new URL(feedUrl).host !== new URL(page.identity).host) return null;
  const file = await readWhole(feedUrl, ask).catch(ifTwtxtError(() => null));
  if (file === null) {
    checkLimits();
    return null;
  }
  const { header, twts } = await parseInSlices(file, slices);
  const naming = await slices.filter(twts, (twt) => isNamed(twt, target, site));
  const linking = await slices.filter(naming, ({ text }) =>
    urlsInText(text).some((url) => isSameUrl(url, page.identity)),
  );
  const twt = linking[0] ?? (naming.length === 1 ? naming[0] : undefined);
  if (!twt) return null;

  const mention = mentionOfTwt(twt, { url: feedUrl, header }, site);
  return {
    ...mention,
    type: page.type === "reply" ? "reply" : mention.type,
    subject: mention.subject ?? page.subject,
    about: mention.about ?? page.about,
  };
}

/** @returns `null` if the file is missing. @throws TwtxtError for an incomplete one */
async function readWhole(url: string, ask: VerificationContext["ask"]): Promise<string | null> {
  const answer = await ask(url, PAGE_BYTES, FEED_ACCEPT);
  return verdictOnAnswer(answer) ? null : (await answer.bytes()).toString();
}
