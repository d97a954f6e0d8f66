// plugin/mentions/verify/verify-feed.ts: whether a twt of somebody's feed mentions us.
import type { ParsedTwt } from "../../feed/feed.js";
import { LINE_LIMIT } from "../../feed/twt.js";
import type { Claim, Proof, ProvenMention } from "../mention.js";
import { type AskSource, disproven, verdictOnAnswer } from "./ask-source.js";
import { type FeedHeader, type FeedPart, searchPart } from "./feed-part.js";
import { nameSaid, textSaid, webUrlSaid } from "./said.js";
import { urlsInText } from "./urls-in-text.js";

const FEED_BYTES = 8 * 1024 * 1024;
const MAX_PARTS = 10;
const ACCEPT = "text/plain, */*;q=0.5";

/**
 * Looks for the twt that a reference names, in the feed and then in its archives.
 *
 * @param isTarget - whether a URL is the claim's target, under any of its names
 * @throws TwtxtError as {@link AskSource}, and what a body throws
 * @see PROTOCOL 2.4, "The proof"
 */
export async function verifyTwt(claim: Claim, ask: AskSource, isTarget: (url: string) => boolean): Promise<Proof> {
  const wanted = { timestamps: claim.timestamps, isMeant: (twt: ParsedTwt) => isNamed(twt, claim, isTarget) };
  const asked = new Set<string>();
  let feed: { identity: string; header: FeedHeader } | null = null;

  for (let url: string | null = claim.source; ; ) {
    if (url === null || asked.has(url) || asked.size === MAX_PARTS) return notFound(claim, feed?.identity ?? null);
    asked.add(url);
    const answer = await ask(url, FEED_BYTES, ACCEPT);
    const verdict = verdictOnAnswer(answer);
    // An archive that is not there leaves open what stood in it.
    if (verdict) return feed && verdict.outcome === "disproven" ? notFound(claim, feed.identity) : verdict;

    const part: FeedPart = await searchPart(answer.body, wanted);
    feed ??= { identity: answer.url, header: part.header };
    if (part.twt) return { outcome: "proven", mention: mentionOf(part.twt, feed.identity, feed.header) };
    if (isLast(part)) return lacking(claim, feed.identity, part);
    url = part.isFeed ? archiveOf(part.header, answer.url, feed.identity) : null;
  }
}

/** A feed of ours is mentioned by `@<nick url>` or `@<url>` alone, a page also by a link or a bare address. */
function isNamed({ mentions, text }: ParsedTwt, { target }: Claim, isTarget: (url: string) => boolean): boolean {
  return (
    mentions.some(({ url }) => isTarget(url)) ||
    (target.kind === "page" && urlsInText(text.slice(0, LINE_LIMIT)).some(isTarget))
  );
}

/** Whether a part that lacks the mention settles the matter: it was read to its end, and no other one covers that moment. */
function isLast({ isFeed, hasMoment, hasOlder, header }: FeedPart): boolean {
  return isFeed && (hasMoment || hasOlder || header.prev === undefined);
}

function lacking({ timestamps: [timestamp], target }: Claim, identity: string, { hasMoment }: FeedPart): Proof {
  return hasMoment
    ? disproven("no-such-mention", `The twt of ${timestamp} in ${identity} does not mention ${target.url}.`, {
        isGone: true,
        identity,
      })
    : disproven("no-such-twt", `${identity} has no twt of ${timestamp}.`, { isGone: true, identity });
}

/** Not found, and not certain to be gone: there is no feed, or its archives do not lead to that moment. */
function notFound({ source, timestamps: [timestamp] }: Claim, identity: string | null): Proof {
  const why = `No twt of ${timestamp} could be found in ${identity ?? source}.`;
  return disproven("no-such-twt", why, { isGone: false, identity });
}

/**
 * `prev = <hash of the last twt in that file> <file name relative to the feed>`. PROTOCOL 1.4. An archive on another
 * origin is not read: what stands there is not for this feed to claim.
 */
function archiveOf({ prev }: FeedHeader, partUrl: string, identity: string): string | null {
  const name = /^\S+[ \t]+(\S+)$/.exec(prev ?? "")?.[1];
  if (name === undefined || !URL.canParse(name, partUrl)) return null;
  const url = new URL(name, partUrl);
  url.hash = "";
  return url.origin === new URL(identity).origin ? url.href : null;
}

function mentionOf(twt: ParsedTwt, identity: string, { nick = "", avatar }: FeedHeader): ProvenMention {
  return {
    identity,
    timestamp: twt.timestamp,
    instant: twt.instant,
    type: twt.subject === null ? "mention" : "reply",
    author: { name: nameSaid(nick) || new URL(identity).host, url: identity, photo: webUrlSaid(avatar) },
    text: textSaid(twt.text),
    published: twt.instant,
    subject: twt.subject,
  };
}
