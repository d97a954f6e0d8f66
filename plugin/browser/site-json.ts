// plugin/browser/site-json.ts: reads the newest mentions and the timeline from the JSON of the site.
import { UNREAD_REASONS } from "../options/words.js";
import { mentionKey } from "../site/conversation.js";
import type { PublicMention } from "../site/mention-list.js";
import { PARTS } from "../site/mention-markup.js";
import type { Timeline, TimelineTwt, UnreadFeed } from "../site/timeline.js";

const PAGE_SIZE = 100;
const MAX_PAGES = 5;

/** In UTF-16 units. A site accepts 5,000 and 100 characters, and writes the markup of 5,000. */
const MAX_TEXT = 10_000;
const MAX_NAME = 200;
const MAX_HTML = 100_000;

const MAX_FORMER = 100;

const MAX_TWTS = 400;
const MAX_UNREAD = 1000;

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
    const list = toFields(await readJson(url, signal));
    const parsed = toList(list.mentions).slice(0, PAGE_SIZE).map(parseMention);
    for (const mention of parsed) mentions.set(mentionKey(mention), mention);
    const isAll = list.next === null;
    const keys = known();
    if (isAll || page === MAX_PAGES || [...mentions.keys()].some((key) => keys.has(key))) return { mentions, isAll };
    url.searchParams.set("after", toText(list.next));
  }
}

/** @throws if the request fails or its response is not a timeline */
export async function readTimeline(url: URL, signal: AbortSignal): Promise<Timeline> {
  const { updated, twts, unread } = toFields(await readJson(url, signal));
  return {
    updated: toText(updated),
    twts: toList(twts).slice(0, MAX_TWTS).map(parseTwt),
    unread: toList(unread).slice(0, MAX_UNREAD).map(parseUnread),
  };
}

/** @throws if the request fails */
async function readJson(url: URL, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error();
  return response.json();
}

function parseMention(json: unknown): PublicMention {
  const { target, under, title, type, hash, hashV1, former, published, received, isRemoved } = toFields(json);
  return {
    ...parseCommonFields(json),
    target: toText(target),
    under: textOrNull(under),
    ...(title !== undefined && { title: toText(title) }),
    type: PARTS.find((part) => part.type === type)?.type ?? "mention",
    hash: textOrNull(hash),
    hashV1: textOrNull(hashV1),
    published: textOrNull(published),
    received: toText(received),
    ...(former !== undefined && { former: toList(former).slice(0, MAX_FORMER).map(toText) }),
    ...(isRemoved === true && { isRemoved }),
  };
}

function parseTwt(json: unknown): TimelineTwt {
  const { hash, hashV1, published, isOwn } = toFields(json);
  const common = parseCommonFields(json);
  return {
    ...common,
    html: common.html ?? "",
    hash: toText(hash),
    hashV1: toText(hashV1),
    published: toText(published),
    isOwn: isOwn === true,
  };
}

function parseUnread(json: unknown): UnreadFeed {
  const { nick, url, reason, lastRead } = toFields(json);
  return {
    nick: toText(nick),
    url: toText(url),
    reason: UNREAD_REASONS.find((known) => known === reason) ?? "failed",
    lastRead: textOrNull(lastRead),
  };
}

/** The fields that mentions and twts of the timeline have in common. */
function parseCommonFields(
  json: unknown,
): Pick<PublicMention, "source" | "url" | "author" | "text" | "html" | "replyTo"> {
  const { source, url: shownUrl, author, text, html, replyTo } = toFields(json);
  const { name, url, page, guest } = toFields(author);
  return {
    source: toText(source),
    ...(shownUrl !== undefined && { url: toText(shownUrl) }),
    author: {
      name: toText(name).slice(0, MAX_NAME),
      url: toText(url),
      ...(page !== undefined && { page: toText(page) }),
      // No picture: the site serves only those that the build downloaded, and the page has them already.
      photo: null,
      ...(guest === true && { guest }),
    },
    text: toText(text).slice(0, MAX_TEXT),
    html: textOrNull(html)?.slice(0, MAX_HTML) ?? null,
    replyTo: textOrNull(replyTo),
  };
}

function toList(json: unknown): unknown[] {
  if (!Array.isArray(json)) throw new TypeError();
  return json;
}

function toFields(json: unknown): Record<string, unknown> {
  if (typeof json !== "object" || json === null) throw new TypeError();
  return { ...json };
}

function toText(json: unknown): string {
  if (typeof json !== "string") throw new TypeError();
  return json;
}

/** `null` also if the field is missing. */
function textOrNull(json: unknown): string | null {
  return json == null ? null : toText(json);
}
