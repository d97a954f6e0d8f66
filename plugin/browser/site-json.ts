// plugin/browser/site-json.ts: reads the newest mentions and the timeline from the JSON of the site.
import { UNREAD_REASONS } from "../options/words.js";
import { mentionKey } from "../site/conversation.js";
import type { MentionList, PublicMention } from "../site/mention-list.js";
import { PARTS } from "../site/mention-markup.js";
import type { Timeline } from "../site/timeline.js";

const PAGE_SIZE = 100;
const MAX_PAGES = 5;

export interface NewestMentions {
  /** Newest first, by key. */
  mentions: ReadonlyMap<string, PublicMention>;
  /** Whether there are no older mentions. */
  isAll: boolean;
}

/**
 * Reads pages of the list, up to the first one with a known mention.
 *
 * @param known - the known mentions, by key
 * @throws if a request fails or its response is not a list of mentions
 */
export async function readNewest(
  url: URL,
  known: () => ReadonlyMap<string, unknown>,
  signal: AbortSignal,
): Promise<NewestMentions> {
  url.searchParams.set("limit", String(PAGE_SIZE));
  const mentions = new Map<string, PublicMention>();
  for (let page = 1; ; page += 1) {
    const { mentions: found, next } = await readJson<MentionList>(url, signal);
    for (const mention of found.map(checkMention)) mentions.set(mentionKey(mention), mention);
    const isAll = next === null;
    const keys = known();
    if (isAll || page === MAX_PAGES || [...mentions.keys()].some((key) => keys.has(key))) return { mentions, isAll };
    requireTexts(next);
    url.searchParams.set("after", next);
  }
}

/** @throws if the request fails or its response is not a timeline */
export async function readTimeline(url: URL, signal: AbortSignal): Promise<Timeline> {
  const { updated, twts, unread } = await readJson<Timeline>(url, signal);
  requireTexts(updated);
  for (const { author, source, text, hash, hashV1, published } of twts) {
    requireTexts(author.name, author.url, source, text, hash, hashV1, published);
  }
  for (const feed of unread) {
    requireTexts(feed.nick, feed.url);
    feed.reason = UNREAD_REASONS.find((known) => known === feed.reason) ?? "failed";
  }
  return { updated, twts, unread };
}

/** @throws if the request fails */
async function readJson<T>(url: URL, signal: AbortSignal): Promise<T> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error();
  return response.json();
}

/** A mention whose required fields are texts. The host of the site has limited their length. */
function checkMention(mention: PublicMention): PublicMention {
  const { author, source, target, text, received } = mention;
  requireTexts(author.name, author.url, source, target, text, received);
  return { ...mention, type: PARTS.find(({ type }) => type === mention.type)?.type ?? "mention" };
}

/** @throws TypeError */
function requireTexts(...values: unknown[]): void {
  if (values.some((value) => typeof value !== "string")) throw new TypeError();
}
