// plugin/mentions/receive/moderation.ts: the author's allow and block lists.
import { isSameUrl, withoutQuery } from "../../http/same-url.js";
import type { Settings } from "../../options.js";
import { hostAndPort, isFeedUrl, isSameHost } from "../../url.js";
import type { StoredMention } from "../mention.js";
import type { BlockList } from "./block-list.js";
import type { ReceivedMentions } from "./received.js";

type Lists = Pick<Exclude<Settings["mentions"], false>, "allow" | "block" | "moderate">;

/**
 * Applies the lists to the URL of a source, a feed or page without fragment.
 *
 * An entry is a host, a `host:port` or a feed. A blocked host includes its subdomains, since the owner of a domain has
 * all of them, and a blocked feed includes its URL with any query. An allowed entry matches only itself:
 * `feed?user=eve` may have another author than `feed`.
 *
 * @see PROTOCOL 2.5
 */
export class Moderation {
  /** @param blockList - sources that the author has blocked since the build; default: none */
  constructor(
    readonly lists: Lists,
    readonly blockList?: BlockList,
  ) {}

  /** Whether sources that are not allowed wait for the author's approval. */
  get moderate(): boolean {
    return this.lists.moderate;
  }

  /** The entries of both lists of blocked sources. */
  get blocked(): readonly string[] {
    return [...this.lists.block, ...(this.blockList?.sources ?? [])];
  }

  isBlocked(url: string): boolean {
    return this.blocked.some((entry) => isListed(entry, url) || new URL(url).hostname.endsWith(`.${entry}`));
  }

  isAllowed(url: string): boolean {
    return this.lists.allow.some((entry) => (isFeedUrl(entry) ? isSameUrl(entry, url) : matchesHost(entry, url)));
  }
}

/** Whether a list entry matches a URL, with or without its query. */
export function isListed(entry: string, url: string): boolean {
  return isFeedUrl(entry) ? [url, withoutQuery(url)].some((name) => isSameUrl(entry, name)) : matchesHost(entry, url);
}

/**
 * Whether a mention is from a source: a feed, an account of another network, a host or `host:port`. `given` counts only on the
 * same host: another sender may have used a redirect from elsewhere.
 */
export function isFrom(source: string, { identity, given, copy, author }: StoredMention): boolean {
  if (copy !== undefined && isListed(source, author.url)) return true;
  return isListed(source, identity) || (isSameHost(given, identity) && isListed(source, given));
}

/** Whether a source is the feed of an unsigned comment, which no other comment has. */
export function isUnsigned(source: string): boolean {
  return /\/anon-[0-9a-f]{16}\.txt$/.test(source);
}

/** Rejects what a source has sent, and refuses what it will send. @returns how many mentions were shown or held */
export async function blockSource(
  source: string,
  { received, moderation }: { received: ReceivedMentions; moderation: Pick<Moderation, "blockList"> },
): Promise<number> {
  if (!isUnsigned(source)) await moderation.blockList?.change(source, true);
  return received.reject((mention) => isFrom(source, mention));
}

function matchesHost(entry: string, url: string): boolean {
  const source = new URL(url);
  return entry === source.hostname || entry === hostAndPort(source);
}
