// plugin/mentions/verify/verify-feed.ts: whether a twt of somebody's feed mentions us.
import type { FeedHeader, ParsedTwt } from "../../feed/feed.js";
import { LINE_LIMIT } from "../../feed/twt.js";
import { FEED_BYTES, previousPart } from "../../http/feed-file.js";
import { isSameUrl, normalUrl } from "../../http/same-url.js";
import type { Claim, ProvenMention, Target } from "../mention.js";
import { type Disproof, disproven, type Inspection, verdictOnAnswer } from "./ask-source.js";
import { type FeedPart, searchPart } from "./feed-part.js";
import type { Look, Sighting } from "./identity.js";
import { nameSaid, textSaid, webUrlSaid } from "./said.js";
import type { SiteInText } from "./site-in-text.js";
import { urlsInText } from "./urls-in-text.js";

const MAX_PARTS = 10;
const ACCEPT = "text/plain, */*;q=0.5";

/** The feed that a reference names: where it answered, and the header of its main file. */
interface Feed {
  url: string;
  header: FeedHeader;
}

/**
 * Looks for the twt that a reference names, in the feed and then in its archives.
 *
 * @throws TwtxtError as the guard does, and what a body throws
 * @see PROTOCOL 2.4, "The proof"
 */
export async function verifyTwt(claim: Claim, { ask, site }: Inspection): Promise<Look> {
  const wanted = { timestamps: claim.timestamps, isMeant: (twt: ParsedTwt) => isNamed(twt, claim.target, site) };
  const asked = new Set<string>();
  let feed: Feed | null = null;

  for (let url: string | null = claim.source; ; ) {
    if (url === null || asked.has(url) || asked.size === MAX_PARTS) return notFound(claim, feed?.url ?? null);
    asked.add(url);
    const answer = await ask(url, FEED_BYTES, ACCEPT);
    const verdict = verdictOnAnswer(answer);
    // An archive that is not there leaves open what stood in it.
    if (verdict) return feed && verdict.outcome === "disproven" ? notFound(claim, feed.url) : verdict;

    const part: FeedPart = await searchPart(answer.body, wanted);
    feed ??= { url: answer.url, header: part.header };
    if (part.twt) return sighting(part.twt, feed, site);
    if (isLast(part)) return lacking(claim, feed.url, part);
    url = part.isFeed ? archiveOf(part.header, answer.url, feed.url) : null;
  }
}

/** A feed of ours is mentioned by `@<nick url>` or `@<url>` alone, a page also by a link or a bare address. */
export function isNamed({ mentions, text }: ParsedTwt, { kind }: Target, { isTarget }: SiteInText): boolean {
  return mentions.some(({ url }) => isTarget(url)) || (kind === "page" && urlsOf(text).some(isTarget));
}

function urlsOf(text: string): string[] {
  return urlsInText(text.slice(0, LINE_LIMIT));
}

/** Whether a part that lacks the mention settles the matter: it was read to its end, and no other one covers that moment. */
function isLast({ isFeed, hasMoment, hasOlder, header }: FeedPart): boolean {
  return isFeed && (hasMoment || hasOlder || header.prev === undefined);
}

function lacking({ timestamps: [timestamp], target }: Claim, identity: string, { hasMoment }: FeedPart): Disproof {
  return hasMoment
    ? disproven("no-such-mention", `The twt of ${timestamp} in ${identity} does not mention ${target.url}.`, {
        isGone: true,
        identity,
      })
    : disproven("no-such-twt", `${identity} has no twt of ${timestamp}.`, { isGone: true, identity });
}

/** Not found, and not certain to be gone: there is no feed, or its archives do not lead to that moment. */
function notFound({ source, timestamps: [timestamp] }: Claim, identity: string | null): Disproof {
  const why = `No twt of ${timestamp} could be found in ${identity ?? source}.`;
  return disproven("no-such-twt", why, { isGone: false, identity });
}

/** An archive on another origin is not read: what is there is not for this feed to claim. */
function archiveOf(header: FeedHeader, partUrl: string, identity: string): string | null {
  const url = previousPart(header, partUrl)?.url ?? null;
  return url !== null && new URL(url).origin === new URL(identity).origin ? url : null;
}

function sighting(twt: ParsedTwt, { url, header }: Feed, site: SiteInText): Sighting {
  const identity = normalUrl(url) ?? url;
  const { timestamp, instant, text } = twt;
  const declared = webUrlSaid(header.url?.[0]);
  const isDeclared = declared !== null && isSameUrl(declared, identity);
  const said = whatTwtSays(twt, { url: identity, header }, site);
  const mention = { ...said, identity, isDeclared, timestamp, instant };
  return { outcome: "proven", mention, declared, contents: `${instant}\n${text}` };
}

/**
 * What a twt says, and who says it.
 *
 * @param feed - its URL and header
 */
export function whatTwtSays(
  { instant, mentions, subject, text }: ParsedTwt,
  { url, header: { nick: [nick = ""] = [], avatar = [] } }: Feed,
  site: SiteInText,
): Omit<ProvenMention, "identity" | "isDeclared" | "timestamp" | "instant"> {
  return {
    type: subject === null ? "mention" : "reply",
    author: { name: nameSaid(nick) || new URL(url).host, url, photo: webUrlSaid(avatar[0]) },
    text: textSaid(text),
    published: instant,
    subject,
    about: site.postAbout(subject, [...mentions.map(({ url }) => url), ...urlsOf(text)]),
  };
}
