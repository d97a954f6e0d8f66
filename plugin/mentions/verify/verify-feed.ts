// plugin/mentions/verify/verify-feed.ts: verifies a mention in a feed.
import { findAuthorPage, findTwtPage } from "../../feed/author-pages.js";
import type { FeedHeader, ParsedTwt } from "../../feed/feed.js";
import { twtHash, twtHashes } from "../../feed/hash.js";
import { LINE_LIMIT } from "../../feed/twt.js";
import { FEED_BYTES, previousPart } from "../../http/feed-file.js";
import { isSameUrl, normalUrl } from "../../http/same-url.js";
import { webUrlOrNull } from "../../web-url.js";
import type { Claim, ProvenMention, Target } from "../mention.js";
import { type FeedPart, searchPart } from "./feed-part.js";
import { quoteName, quoteText, urlsInText } from "./source-text.js";
import {
  disproven,
  ownCopy,
  type SiteMatcher,
  type SourceResult,
  type VerificationContext,
  verdictOnAnswer,
} from "./verification-context.js";

const MAX_PARTS = 10;
const ACCEPT = "text/plain, */*;q=0.5";

/** The feed of a reference: the URL that answered, and the header of its main file. */
interface Feed {
  url: string;
  header: FeedHeader;
}

/**
 * Looks for the twt of a reference in the feed, then in its archives.
 *
 * @throws TwtxtError as the guard does, and what a body throws
 * @see PROTOCOL 2.4, "The proof"
 */
export async function verifyTwt(claim: Claim, { ask, site }: VerificationContext): Promise<SourceResult> {
  const wanted = { timestamps: claim.timestamps, isMeant: (twt: ParsedTwt) => isNamed(twt, claim.target, site) };
  const asked = new Set<string>();
  let feed: Feed | null = null;

  for (let url: string | null = claim.source; ; ) {
    if (url === null || asked.has(url) || asked.size === MAX_PARTS) return notFound(claim, feed?.url ?? null);
    asked.add(url);
    const answer = await ask(url, FEED_BYTES, ACCEPT);
    const verdict = verdictOnAnswer(answer);
    // If an archive is missing, the twt may have been in it.
    if (verdict) return feed && verdict.outcome === "disproven" ? notFound(claim, feed.url) : verdict;

    const part: FeedPart = await searchPart(answer.body, wanted);
    feed ??= { url: answer.url, header: part.header };
    if (part.twt) return sourceMention(part.twt, feed, site);
    const isLast = part.isFeed && (part.hasMoment || part.hasOlder || part.header.prev === undefined);
    if (isLast) return gone(claim, feed.url, part);
    url = part.isFeed ? findArchive(part.header, answer.url, feed.url) : null;
  }
}

/** A feed is mentioned only by `@<nick url>` or `@<url>`, a page also by a link or a bare address. */
export function isNamed({ mentions, text }: ParsedTwt, { kind }: Target, { isTarget }: SiteMatcher): boolean {
  return mentions.some(({ url }) => isTarget(url)) || (kind === "page" && findUrls(text).some(isTarget));
}

function findUrls(text: string): string[] {
  return urlsInText(text.slice(0, LINE_LIMIT));
}

function gone({ timestamps: [timestamp], target }: Claim, identity: string, { hasMoment }: FeedPart): SourceResult {
  const found = { isGone: true, identity };
  if (!hasMoment) return disproven("no-such-twt", `${identity} has no twt of ${timestamp}.`, found);
  return disproven("no-such-mention", `The twt of ${timestamp} in ${identity} does not mention ${target.url}.`, found);
}

/** Not found but not certainly gone: there is no feed, or its archives do not reach that time. */
function notFound({ source, timestamps: [timestamp] }: Claim, identity: string | null): SourceResult {
  return disproven("no-such-twt", `No twt of ${timestamp} could be found in ${identity ?? source}.`, { identity });
}

/** Archives on another origin are ignored: the feed cannot claim them. */
function findArchive(header: FeedHeader, partUrl: string, identity: string): string | null {
  const url = previousPart(header, partUrl)?.url ?? null;
  return url !== null && new URL(url).origin === new URL(identity).origin ? url : null;
}

function sourceMention(twt: ParsedTwt, { url, header }: Feed, site: SiteMatcher): SourceResult {
  const identity = normalUrl(url) ?? url;
  const { timestamp, instant, text } = twt;
  const declared = webUrlOrNull(header.url?.[0]);
  if (declared !== null && site.isOwn(declared)) return ownCopy();
  const isDeclared = declared !== null && isSameUrl(declared, identity);
  const mention = { ...mentionOfTwt(twt, { url: identity, header }, site), identity, isDeclared, timestamp, instant };
  return { outcome: "proven", mention, declared, contents: `${instant}\n${text}` };
}

export function mentionOfTwt(
  twt: ParsedTwt,
  { url, header }: Feed,
  site: SiteMatcher,
): Omit<ProvenMention, "identity" | "isDeclared" | "timestamp" | "instant"> {
  const { instant, mentions, subject, text } = twt;
  const { nick: [nick = ""] = [], avatar = [], url: urls = [] } = header;
  const hashedUrl = urls[0] ?? url;
  const page = findAuthorPage(header, url);
  const twtPage = findTwtPage(text, url);
  return {
    type: subject === null ? "mention" : "reply",
    author: { name: quoteName(nick) || new URL(url).host, url, ...(page && { page }), photo: webUrlOrNull(avatar[0]) },
    ...(twtPage && { url: twtPage }),
    text: quoteText(text),
    html: null,
    hash: twtHash(hashedUrl, twt),
    hashV1: twtHashes(hashedUrl, twt).v1,
    published: instant,
    subject,
    about: site.postAbout(subject, [...mentions.map(({ url }) => url), ...findUrls(text)]),
  };
}
