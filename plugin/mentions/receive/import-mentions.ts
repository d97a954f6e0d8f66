// plugin/mentions/receive/import-mentions.ts: imports mentions that another service verified, at the author's request.
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { isMentionUrl } from "../../feed/mention.js";
import { formatTimestamp, toInstant } from "../../feed/timestamp.js";
import { parseHtml, walkElements } from "../../http/parse-html.js";
import { MENTION_TYPES } from "../../site/mention-list.js";
import { StoredTime } from "../mention.js";
import { readContent } from "../verify/page-content.js";
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
  }),
  text: v.pipe(v.string(), v.maxLength(2 * TEXT_LIMIT + 1)),
  /** The text of a page as HTML, which is reduced to safe elements. */
  html: v.optional(v.nullable(v.pipe(v.string(), v.maxLength(HTML_LIMIT)))),
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
 * @returns the numbers of mentions that are stored now and were not before, of those that are the same as a stored one, and
 *   of those that are ignored
 */
export async function importMentions(
  { mentions }: v.InferOutput<typeof ImportBody>,
  { received, siteIndex, now }: { received: ReceivedMentions; siteIndex: SiteIndex; now: Clock },
): Promise<v.InferOutput<typeof Imported>> {
  const found = mentions.map((mention) => ({ mention, known: toNewMention(mention, siteIndex, now()) }));
  const view = await received.journal.read();
  const before = new Set(
    found.flatMap(({ known }) => (known && view.entry(toMentionId(known)) ? toMentionId(known) : [])),
  );
  const kept: string[] = [];
  for (const { mention, known } of found) {
    if (!known) continue;
    await received.keep(await withHtml(await withContent(known, mention)));
    kept.push(toMentionId(known));
  }
  const after = await received.journal.read();
  const imported = new Set(kept.filter((id) => after.entry(id) && !before.has(id))).size;
  return { imported, known: kept.length - imported, ignored: mentions.length - kept.length };
}

/** Reduces the HTML of a page to safe elements. */
async function withContent(
  known: NewMention,
  { html }: Pick<v.InferOutput<typeof Mention>, "html">,
): Promise<NewMention> {
  if (!html || known.timestamp !== null) return known;
  const { tree } = await parseHtml(`<!doctype html><body>${html}`);
  const body = [...walkElements(tree)].find(({ tagName }) => tagName === "body");
  const limit = known.type === "reply" ? TEXT_LIMIT : EXCERPT_LIMIT;
  return { ...known, ...(body && readContent(body, known.identity, limit)) };
}

function toNewMention(mention: v.InferOutput<typeof Mention>, siteIndex: SiteIndex, now: number): NewMention | null {
  const { source, target, published, received, html, ...fields } = mention;
  const claim = toClaim(source, target, siteIndex);
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
    // The original time, so that the author is not notified of old mentions. One in the future would stay on top of the list.
    ...(received && { received: new Date(Math.min(Date.parse(received), now)).toISOString() }),
  };
}

/** @returns `null` for a source or target that this site does not accept */
function toClaim(source: string, target: string, siteIndex: SiteIndex) {
  try {
    return checkClaim(source, target, siteIndex);
  } catch (error) {
    if (error instanceof TwtxtError) return null;
    throw error;
  }
}
