// plugin/mentions/receive/take-over.ts: mentions that another service has verified, taken over because the author says so.

import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { isMentionUrl } from "../../feed/mention.js";
import { toInstant } from "../../feed/timestamp.js";
import { MENTION_TYPES } from "../../site/mention-list.js";
import type { NewMention } from "./event.js";
import { checkClaim } from "./read-claim.js";
import type { ReceivedMentions } from "./received.js";
import type { SiteIndex } from "./site-index.js";

const webUrl = v.pipe(v.string(), v.maxLength(2000), v.check(isMentionUrl));

/** Clocks differ. Beyond this, a mention would stand above all others until its day has come. */
const FUTURE_MS = 24 * 3600_000;

const time = v.pipe(v.string(), v.isoTimestamp());

const Mention = v.strictObject({
  source: webUrl,
  target: webUrl,
  type: v.picklist(MENTION_TYPES),
  author: v.strictObject({ name: v.pipe(v.string(), v.maxLength(200)), url: webUrl, photo: v.nullable(webUrl) }),
  text: v.pipe(v.string(), v.maxLength(1001)),
  published: v.nullable(time),
  received: v.optional(v.nullable(time)),
});

/** What `POST /import` takes. */
export const TakeOver = v.strictObject({ mentions: v.pipe(v.array(Mention), v.maxLength(500)) });

/**
 * Keeps those whose target is ours.
 *
 * @returns how many were kept and how many were not
 * @throws TwtxtError `bad-request` where one was received more than a day from now; then none is kept
 */
export async function takeOver(
  { mentions }: v.InferOutput<typeof TakeOver>,
  { received, siteIndex, now }: TakeOverParts,
): Promise<{ imported: number; ignored: number }> {
  const latest = now() + FUTURE_MS;
  const early = mentions.find(({ received }) => received && Date.parse(received) > latest);
  if (early) {
    throw new TwtxtError("bad-request", `${early.source} says that it was received in the future: ${early.received}.`);
  }
  let imported = 0;
  for (const mention of mentions) {
    const known = asKept(mention, siteIndex);
    if (!known) continue;
    await received.keep(known);
    imported += 1;
  }
  return { imported, ignored: mentions.length - imported };
}

export interface TakeOverParts {
  received: ReceivedMentions;
  siteIndex: SiteIndex;
  now: Clock;
}

function asKept(mention: v.InferOutput<typeof Mention>, siteIndex: SiteIndex): NewMention | null {
  const { source, target, published, received, ...said } = mention;
  const claim = claimOf(source, target, siteIndex);
  if (!claim) return null;
  const [timestamp = null] = claim.timestamps;
  return {
    ...said,
    identity: claim.source,
    isDeclared: false,
    given: claim.source,
    target: claim.target.url,
    under: claim.under,
    timestamp,
    instant: timestamp === null ? null : toInstant(timestamp),
    published: published === null ? null : `${new Date(published).toISOString().slice(0, 19)}Z`,
    subject: null,
    about: null,
    hold: "never",
    // Not now: the author knows them already, and is not told of them.
    ...(received && { received: new Date(received).toISOString() }),
  };
}

/** @returns `null` for what an own feed says, and for what is about nothing of ours */
function claimOf(source: string, target: string, siteIndex: SiteIndex) {
  try {
    return checkClaim(source, target, siteIndex);
  } catch (error) {
    if (error instanceof TwtxtError) return null;
    throw error;
  }
}
