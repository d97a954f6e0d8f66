// plugin/mentions/inform/list-json.ts: the public list of mentions as JSON.
import { TwtxtError } from "../../errors.js";
import { publicList } from "../../http/public-list.js";
import { type Handler, parseLimit, parseParameters } from "../../http/respond.js";
import type { PublicMention } from "../../site/mention-list.js";
import { ROUTES } from "../../site/routes.js";
import { type ListMentions, publishedTime, type StoredMention } from "../mention.js";
import { NO_CONTENTS } from "../receive/event.js";
import type { SiteIndex } from "../receive/site-index.js";
import { shortenPage } from "../receive/sorted-lists.js";
import { toSource } from "../reference.js";

const PARAMETERS = ["target", "after", "limit"] as const;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** Long texts fill a page earlier. */
const PAGE_BYTES = 256 * 1024;

/**
 * Lists shown mentions, newest first: `GET /mentions.json?target=&after=&limit=`.
 *
 * @param cacheTag - the tag by which the CDN's copies are purged
 * @see PROTOCOL 2.4, "The answer"
 */
export function listMentions({ list, siteIndex, cacheTag, readSyndication }: ListParts): Handler {
  const listed = { type: "application/json", tag: cacheTag, seconds: 3600, parameters: PARAMETERS };
  return publicList(ROUTES.mentionsJson.methods, listed, async (url) => {
    const { target, after, limit } = parseParameters(url, PARAMETERS);
    const page = await list({
      ...{ state: "shown", target: findTarget(target, siteIndex), after },
      ...{ limit: parseLimit(limit, MAX_LIMIT, DEFAULT_LIMIT), withPlaces: true },
    });
    const toItem = (mention: StoredMention) => ({
      id: mention.id,
      received: mention.received,
      json: JSON.stringify(siteIndex.addTitle(publicMention(mention))),
    });
    const whole = { items: page.mentions.map(toItem), next: page.next };
    const { items, next } = shortenPage(whole, PAGE_BYTES, ({ json }) => Buffer.byteLength(json));
    const isStart = !/[?&](?:after|target)=/.test(url);
    const copies = isStart ? JSON.stringify((await readSyndication?.()) ?? undefined) : undefined;
    const syndication = copies === undefined || copies === "{}" ? "" : `,"syndication":${copies}`;
    return `{"mentions":[${items.map(({ json }) => json).join()}],"next":${JSON.stringify(next)}${syndication}}\n`;
  });
}

interface ListParts {
  list: ListMentions;
  siteIndex: Pick<SiteIndex, "target" | "addTitle">;
  cacheTag: string;
  /** The URLs of copies on other networks, by page; absent for a site without. */
  readSyndication?: (() => Promise<Record<string, string[]>>) | undefined;
}

/** The public fields of a mention, without what follows from the site's pages. */
export function publicMention(mention: StoredMention): PublicMention {
  const { target, under, type, author, text, html, hash, hashV1, former, url, subject: replyTo, ...others } = mention;
  const { state, received } = others;
  const published = publishedTime(mention);
  const contents = state === "shown" ? { author, text, html } : { ...NO_CONTENTS, isRemoved: true as const };
  return {
    source: toSource(mention),
    ...{ target, under, type, hash, hashV1, replyTo, published, received },
    ...(former && { former }),
    ...(url !== undefined && state === "shown" && { url }),
    ...contents,
  };
}

/**
 * The URL of a page or of the feed, as the site writes it.
 *
 * @throws TwtxtError `not-our-target` for other sites' URLs, which would otherwise fill the cache
 */
export function findTarget(target: string | undefined, siteIndex: Pick<SiteIndex, "target">): string | undefined {
  const found = target === undefined ? undefined : siteIndex.target(target)?.url;
  if (target === undefined || found !== undefined) return found;
  throw new TwtxtError("not-our-target", "The target is neither a feed nor a page of this site.");
}
