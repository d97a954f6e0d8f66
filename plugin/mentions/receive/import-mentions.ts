// plugin/mentions/receive/import-mentions.ts: imports mentions that another service verified, at the author's request.
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { valueOrNull } from "../../errors.js";
import { isMentionUrl } from "../../feed/mention.js";
import { readSubject } from "../../feed/subject.js";
import { formatTimestamp, toInstant } from "../../feed/timestamp.js";
import { MENTION_TYPES } from "../../site/mention-list.js";
import { plainLines } from "../../site/plain-lines.js";
import { hashComment, isGuestFeed } from "../comments/guest-feed.js";
import { readWords, StoredTime } from "../mention.js";
import { sanitizeHtml } from "../verify/page-content.js";
import { EXCERPT_LIMIT, NAME_LIMIT, TEXT_LIMIT, withHtml } from "../verify/source-text.js";
import { type NewMention, toMentionId } from "./event.js";
import type { Imported } from "./managed-mention.js";
import { checkClaim } from "./receive.js";
import type { ReceivedMentions } from "./received.js";
import type { SiteIndex } from "./site-index.js";

const webUrl = v.pipe(v.string(), v.maxLength(2000), v.check(isMentionUrl));

/** Characters of HTML that are read. */
export const HTML_LIMIT = 50_000;

/** Lengths are in UTF-16 code units: a character has one or two. */
const Mention = v.strictObject({
  source: webUrl,
  target: webUrl,
  /** The URL that is shown instead of the source, such as a post on Mastodon; the source if it is absent. */
  url: v.exactOptional(webUrl),
  type: v.picklist(MENTION_TYPES),
  author: v.strictObject({
    name: v.pipe(v.string(), v.maxLength(2 * NAME_LIMIT)),
    url: webUrl,
    page: v.exactOptional(webUrl),
    photo: v.nullable(webUrl),
    /** Of a comment, whose source is a twt in the feed of a guest at this site, and whose text has what it answers. */
    guest: v.exactOptional(v.literal(true)),
  }),
  text: v.pipe(v.string(), v.maxLength(2 * TEXT_LIMIT + 1)),
  /** The text of a page or of a comment as HTML, which is reduced to safe elements. */
  html: v.optional(v.nullable(v.pipe(v.string(), v.maxLength(HTML_LIMIT)))),
  published: v.nullable(StoredTime),
  received: v.optional(v.nullable(StoredTime)),
});

/** A mention that another service verified. `received` is the time when that service received it. */
export type ImportedMention = v.InferInput<typeof Mention>;

/** The body of `POST /import`. */
export const ImportBody = v.strictObject({ mentions: v.pipe(v.array(Mention), v.maxLength(500)) });

interface ImportParts {
  received: ReceivedMentions;
  siteIndex: SiteIndex;
  /** The URL below which the feeds of guests are; `null` for a site without comments. */
  guestFeeds: string | null;
  now: Clock;
}

/**
 * Stores mentions whose target belongs to this site, and comments that it does not have.
 *
 * @returns the numbers of mentions that are stored now and were not before, of those that are the same as a stored one, and
 *   of those that are ignored
 */
export async function importMentions(
  { mentions }: v.InferOutput<typeof ImportBody>,
  parts: ImportParts,
): Promise<v.InferOutput<typeof Imported>> {
  const found = mentions.flatMap((mention) => {
    const known = toNewMention(mention, parts);
    return known ? [{ ...mention, known }] : [];
  });
  const { received } = parts;
  const view = await received.journal.read();
  const before = new Set(found.flatMap(({ known }) => (view.entry(toMentionId(known)) ? toMentionId(known) : [])));
  // A comment that is here stays as the author has decided, also on another page.
  const wanted = found.filter(
    ({ known: { author, identity, instant } }) =>
      !author.guest || !view.findComments(identity).some((comment) => comment.instant === instant),
  );
  const kept: NewMention[] = [];
  for (const { known, html } of wanted) kept.push(await withHtml(await withContent(known, html)));
  await received.keepAll(kept);
  const after = await received.journal.read();
  const ids = new Set(kept.map(toMentionId));
  const imported = [...ids].filter((id) => after.entry(id) && !before.has(id)).length;
  return { imported, known: found.length - imported, ignored: mentions.length - found.length };
}

/** Reduces the HTML of a page or of a comment to safe elements. */
async function withContent(known: NewMention, html: string | null | undefined): Promise<NewMention> {
  const isPage = known.timestamp === null;
  if (!isPage && !known.author.guest) return known;
  const limit = known.type === "reply" ? TEXT_LIMIT : EXCERPT_LIMIT;
  const content = html ? await sanitizeHtml(html, known.identity, limit) : null;
  if (isPage) return { ...known, ...content };
  const { html: typed } = await withHtml({ ...known, text: readWords(known) });
  return { ...known, html: content?.html ?? typed };
}

function toNewMention(mention: v.InferOutput<typeof Mention>, parts: ImportParts): NewMention | null {
  const { source, target, published, received, html, ...fields } = mention;
  const place = fields.author.guest ? placeComment(mention, parts) : placeMention(mention, parts.siteIndex);
  return (
    place && {
      ...fields,
      published: published === null ? null : formatTimestamp(Date.parse(published)),
      html: null,
      about: null,
      hold: "never",
      ...place,
      // The original time, so that the author is not notified of old mentions. One in the future would stay on top of the list.
      ...(received && { received: new Date(Math.min(Date.parse(received), parts.now())).toISOString() }),
    }
  );
}

function placeMention({ source, target }: v.InferOutput<typeof Mention>, siteIndex: SiteIndex) {
  const claim = toClaim(source, target, siteIndex);
  if (!claim) return null;
  const [timestamp = null] = claim.timestamps;
  return {
    identity: claim.source,
    // The other service has told sources apart by their URLs.
    isDeclared: timestamp === null,
    given: claim.source,
    target: claim.target.url,
    under: claim.under,
    timestamp,
    instant: timestamp === null ? null : toInstant(timestamp),
    ...{ hash: null, hashV1: null, subject: null },
  };
}

/** A comment of another system, or of an export of this site. @returns `null` for anything but a twt of a guest here */
function placeComment(mention: v.InferOutput<typeof Mention>, { siteIndex, guestFeeds }: ImportParts) {
  const [identity = "", timestamp = ""] = mention.source.split("#:~:text=");
  const page = siteIndex.target(mention.target);
  const isTwt = guestFeeds !== null && isGuestFeed(identity, guestFeeds) && timestamp === toInstant(timestamp);
  if (!isTwt || page?.kind !== "page") return null;
  const text = plainLines(mention.text).join("\n").trim();
  return {
    ...{ identity, isDeclared: true, given: identity, target: page.url, under: null, timestamp, instant: timestamp },
    ...{ type: "reply" as const, text, published: timestamp, subject: readSubject(text) },
    author: { ...mention.author, url: identity },
    ...hashComment(identity, { timestamp, text }),
  };
}

/** @returns `null` for a source or target that this site does not accept */
function toClaim(source: string, target: string, siteIndex: SiteIndex) {
  return valueOrNull(() => checkClaim(source, target, siteIndex));
}
