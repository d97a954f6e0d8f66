// plugin/browser/read-timeline.ts: the timeline from the JSON of the site.
import { UNREAD_REASONS } from "../options/words.js";
import type { Timeline, TimelineTwt, UnreadFeed } from "../site/timeline.js";
import { fieldsOf, parseSaid, readJson, textOf, textOrNull } from "./newest-mentions.js";

const MAX_TWTS = 400;
const MAX_UNREAD = 1000;

/** @throws if the request fails or its response is not a timeline */
export async function readTimeline(url: URL, signal: AbortSignal): Promise<Timeline> {
  const { updated, twts, unread } = fieldsOf(await readJson(url, signal));
  return {
    updated: textOf(updated),
    twts: listOf(twts).slice(0, MAX_TWTS).map(parseTwt),
    unread: listOf(unread).slice(0, MAX_UNREAD).map(parseUnread),
  };
}

function parseTwt(json: unknown): TimelineTwt {
  const { hash, hashV1, published, isOwn } = fieldsOf(json);
  const said = parseSaid(json);
  return {
    ...said,
    html: said.html ?? "",
    hash: textOf(hash),
    hashV1: textOf(hashV1),
    published: textOf(published),
    isOwn: isOwn === true,
  };
}

function parseUnread(json: unknown): UnreadFeed {
  const { nick, url, reason, lastRead } = fieldsOf(json);
  return {
    nick: textOf(nick),
    url: textOf(url),
    reason: UNREAD_REASONS.find((known) => known === reason) ?? "failed",
    lastRead: textOrNull(lastRead),
  };
}

function listOf(json: unknown): unknown[] {
  if (!Array.isArray(json)) throw new TypeError();
  return json;
}
