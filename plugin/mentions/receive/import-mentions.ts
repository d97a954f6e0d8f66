// plugin/mentions/receive/import-mentions.ts: imports mentions that another service verified, at the author's request.
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { isMentionUrl } from "../../feed/mention.js";
import { formatTimestamp, toInstant } from "../../feed/timestamp.js";
import { MENTION_TYPES } from "../../site/mention-list.js";
import { StoredTime } from "../mention.js";
import { NAME_LIMIT, TEXT_LIMIT, withHtml } from "../verify/source-text.js";
import type { NewMention } from "./event.js";
import { checkClaim } from "./receive.js";
import type { ReceivedMentions } from "./received.js";
import type { SiteIndex } from "./site-index.js";

const webUrl = v.pipe(v.string(), v.maxLength(2000), v.check(isMentionUrl));

/** Allows for clocks that differ. A mention from further in the future would stay on top of the list until then. */
const FUTURE_MS = 24 * 3600_000;

/** Lengths are in UTF-16 code units: a character has one or two. */
const Mention = v.strictObject({
  source: webUrl,
  target: webUrl,
  type: v.picklist(MENTION_TYPES),
  author: v.strictObject({
    name: v.pipe(v.string(), v.maxLength(2 * NAME_LIMIT)),
    url: webUrl,
    photo: v.nullable(webUrl),
  }),
  text: v.pipe(v.string(), v.maxLength(2 * TEXT_LIMIT + 1)),
  published: v.nullable(StoredTime),
  received: v.optional(v.nullable(StoredTime)),
});

/** A mention that another service verified. `received` is the time when that service received it. */
export type ImportedMention = v.InferInput<typeof Mention>;

/** The body of `POST /import`. */
export const ImportBody = v.strictObject({ mentions: v.pipe(v.array(Mention), v.maxLength(500)) });

/**
 * Stores mentions whose target belongs to this site.
 *
 * @returns the numbers of stored and skipped mentions
 * @throws TwtxtError `bad-request` if one was received more than a day in the future; nothing is stored then
 */
export async function importMentions(
  { mentions }: v.InferOutput<typeof ImportBody>,
  { received, siteIndex, now }: { received: ReceivedMentions; siteIndex: SiteIndex; now: Clock },
): Promise<{ imported: number; ignored: number }> {
  const latest = now() + FUTURE_MS;
  const early = mentions.find(({ received }) => received && Date.parse(received) > latest);
  if (early) {
    throw new TwtxtError(
      "bad-request",
      `The mention from ${early.source} has a "received" time in the future: ${early.received}.`,
    );
  }
  let imported = 0;
  for (const mention of mentions) {
    const known = newMentionOf(mention, siteIndex);
    if (!known) continue;
    await received.keep(await withHtml(known));
    imported += 1;
  }
  return { imported, ignored: mentions.length - imported };
}

function newMentionOf(mention: v.InferOutput<typeof Mention>, siteIndex: SiteIndex): NewMention | null {
  const { source, target, published, received, ...fields } = mention;
  const claim = claimOf(source, target, siteIndex);
  if (!claim) return null;
  const [timestamp = null] = claim.timestamps;
  return {
    ...fields,
    identity: claim.source,
    // The other service has told sources apart by their URLs.
    isDeclared: timestamp === null,
    given: claim.source,
    target: claim.target.url,
    under: claim.under,
    timestamp,
    instant: timestamp === null ? null : toInstant(timestamp),
    published: published === null ? null : formatTimestamp(Date.parse(published)),
    html: null,
    hash: null,
    hashV1: null,
    subject: null,
    about: null,
    hold: "never",
    // The original time, so that the author is not notified of old mentions.
    ...(received && { received: new Date(received).toISOString() }),
  };
}

/** @returns `null` for a source or target that this site does not accept */
function claimOf(source: string, target: string, siteIndex: SiteIndex) {
  try {
    return checkClaim(source, target, siteIndex);
  } catch (error) {
    if (error instanceof TwtxtError) return null;
    throw error;
  }
}
