// plugin/mentions/verify/twt-of-page.ts: finds the twt of a page in the feed that the page names.
import { TwtxtError } from "../../errors.js";
import { type ParsedTwt, parseFeed } from "../../feed/feed.js";
import { isSameUrl } from "../../http/same-url.js";
import type { ProvenMention, Target } from "../mention.js";
import { textPieces } from "./text-pieces.js";
import { urlsInText } from "./urls-in-text.js";
import { type AskSource, type VerificationContext, verdictOnAnswer } from "./verification-context.js";
import { isNamed, mentionOfTwt } from "./verify-feed.js";

const FEED_BYTES = 1024 * 1024;
const HEADER_LENGTH = 16 * 1024;
const ACCEPT = "text/plain, */*;q=0.5";

/**
 * Finds a page's twt, whose nick, text and time are better than the page's title. It is the twt that mentions the target
 * and links to the page, else the only one that mentions the target.
 *
 * @param feedUrl - ignored unless on the page's own host
 * @param page - the mention as found in the page
 * @returns fields to replace in `page`; `null` if there is no such twt
 */
export async function twtOfPage(
  feedUrl: string,
  page: ProvenMention,
  target: Target,
  { ask, checkLimits, site, slices }: VerificationContext,
): Promise<Partial<ProvenMention> | null> {
  const isOwn = page.type === "mention" || page.type === "reply";
  if (!isOwn || new URL(feedUrl).host !== new URL(page.identity).host) return null;
  const file = await readWhole(feedUrl, ask);
  if (file === null) {
    checkLimits();
    return null;
  }
  const { header } = parseFeed(file.slice(0, HEADER_LENGTH));
  const naming: ParsedTwt[] = [];
  for (const lines of textPieces(file, /\n/g)) {
    if (slices.isOver) await slices.next();
    naming.push(...parseFeed(lines).twts.filter((twt) => isNamed(twt, target, site)));
  }
  const linking = await slices.filter(naming, (twt) => linksTo(twt, page.identity));
  const twt = linking[0] ?? (naming.length === 1 ? naming[0] : undefined);
  if (!twt) return null;

  const mention = mentionOfTwt(twt, { url: feedUrl, header }, site);
  return { ...mention, type: page.type === "reply" ? "reply" : mention.type, about: mention.about ?? page.about };
}

function linksTo({ text }: ParsedTwt, pageUrl: string): boolean {
  return urlsInText(text).some((url) => isSameUrl(url, pageUrl));
}

/** @returns `null` if the file is missing or incomplete */
async function readWhole(url: string, ask: AskSource): Promise<string | null> {
  try {
    const answer = await ask(url, FEED_BYTES, ACCEPT);
    if (verdictOnAnswer(answer)) return null;
    return (await answer.bytes()).toString();
  } catch (error) {
    if (error instanceof TwtxtError) return null;
    throw error;
  }
}
