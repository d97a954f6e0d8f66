// plugin/eleventy/site-files.ts: the feed and the discovery documents.
import { authorError } from "../errors.js";
import { splitIntoParts } from "../feed/archive.js";
import { formatFeed } from "../feed/feed.js";
import type { FieldName } from "../feed/header.js";
import type { Twt } from "../feed/twt.js";
import type { Settings } from "../options.js";
import type { SiteUrls } from "./site-urls.js";

/** A file of the site: its path from the root, as `/twtxt.txt`, and what is in it. */
export interface SiteFile {
  path: string;
  content: string;
}

/** The same, of bytes. */
export interface BinaryFile {
  path: string;
  content: Uint8Array;
}

type FeedUrls = Pick<SiteUrls, "feedUrl" | "endpoint">;

/** Who has an address, and where messages go. */
export interface Inbox {
  address: string;
  key: string;
  /** `null` where nobody can write to. */
  endpoint: string | null;
}

/**
 * The feed and its archives.
 *
 * @param twts - oldest first
 * @param urls - the absolute URL of the feed, its identity, and that of the endpoint for mentions
 */
export function feedFiles(twts: readonly Twt[], settings: Settings, urls: FeedUrls): SiteFile[] {
  const feedUrl = urls.feedUrl();
  return splitIntoParts(twts, { path: settings.path, url: feedUrl }).map(({ path, twts, prev }, i) => {
    const isFeed = i === 0;
    const fields = isFeed ? headerOf(settings, urls) : { nick: [settings.nick], url: [feedUrl] };
    return { path, content: formatFeed({ fields: prev ? { ...fields, prev: [prev] } : fields, twts }) };
  });
}

/** The addresses of a site. */
export function inboxesOf({ authors, url }: Settings, urls: Pick<SiteUrls, "inboxOf">): Inbox[] {
  const { host } = new URL(url);
  return authors.map((author) => ({
    address: `${author.user}@${host}`,
    key: author.key,
    endpoint: urls.inboxOf(author),
  }));
}

/**
 * The documents by which others find the authors' keys and inboxes; none for whom nobody can write to.
 *
 * @throws TwtxtError `bad-option` for a key that is none
 * @see PROTOCOL 3.1
 */
export async function discoveryFiles(inboxes: readonly Inbox[]): Promise<SiteFile[]> {
  if (inboxes.length === 0) return [];
  const [{ parseKey }, { discoveryPaths }] = await Promise.all([
    import("../keys/key.js"),
    import("../keys/address.js"),
  ]);
  return inboxes.flatMap(({ address, key, endpoint }) => {
    try {
      parseKey(key);
    } catch (cause) {
      throw authorError("bad-option", `options.key of ${address}: ${(cause as Error).message}`, { cause });
    }
    if (endpoint === null) return [];
    const content = `${JSON.stringify({ endpoint, key })}\n`;
    return discoveryPaths(address).map((path) => ({ path, content }));
  });
}

function headerOf(settings: Settings, urls: FeedUrls): Partial<Record<FieldName, string[]>> {
  const { nick, avatar, description, lang, link, follow, refresh } = settings;
  const some = (value: string | number | undefined) => (value === undefined ? [] : [String(value)]);
  return {
    nick: [nick],
    url: [urls.feedUrl()],
    webmention: some(urls.endpoint() ?? undefined),
    avatar: some(avatar),
    description: some(description),
    lang: some(lang),
    link: link.map(({ text, url }) => `${text} ${url}`),
    follow: follow.map(({ nick, url }) => `${nick} ${url}`),
    refresh: some(refresh),
  };
}
