// plugin/mentions/verify/twt-of-page.ts: the twt of a page, where the page names its feed.
import { TwtxtError } from "../../errors.js";
import { type ParsedTwt, parseFeed } from "../../feed/feed.js";
import { isSameUrl } from "../../http/same-url.js";
import type { ProvenMention, Target } from "../mention.js";
import { type AskSource, type Inspection, verdictOnAnswer } from "./ask-source.js";
import { textPieces } from "./text-pieces.js";
import { urlsInText } from "./urls-in-text.js";
import { isNamed, whatTwtSays } from "./verify-feed.js";

const FEED_BYTES = 1024 * 1024;
const HEADER_LENGTH = 16 * 1024;
const ACCEPT = "text/plain, */*;q=0.5";

/**
 * Finds what a page's twt says: nick, text and time are better there than a guess at the page's title. The twt is the one
 * that mentions the target and links to the page, else the only one that mentions the target.
 *
 * @param feedUrl - believed on the page's own host alone
 * @param page - what the page itself says
 * @returns what replaces it; `null` where there is no such twt
 */
export async function twtOfPage(
  feedUrl: string,
  page: ProvenMention,
  target: Target,
  { ask, checkLimits, site, slices }: Inspection,
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

  const said = whatTwtSays(twt, { url: feedUrl, header }, site);
  return { ...said, type: page.type === "reply" ? "reply" : said.type, about: said.about ?? page.about };
}

function linksTo({ text }: ParsedTwt, pageUrl: string): boolean {
  return urlsInText(text).some((url) => isSameUrl(url, pageUrl));
}

/** @returns `null` where there is no such file, or not all of it came */
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
