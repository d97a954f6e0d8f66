// plugin/eleventy/output/feed-files.ts: the feed with its archives, and the discovery documents of the authors.
import { readdir, readFile, rm } from "node:fs/promises";
import { join, posix } from "node:path";
import { authorError } from "../../errors.js";
import { isArchivePath } from "../../feed/archives.js";
import { formatFeed, parseFeed } from "../../feed/feed.js";
import type { FieldName } from "../../feed/header.js";
import { splitIntoParts } from "../../feed/split.js";
import type { Twt } from "../../feed/twt.js";
import { BRIDGY } from "../../options/fediverse.js";
import type { Settings } from "../../options.js";
import { FEDIVERSE_DOCUMENTS } from "../../site/fediverse.js";
import type { Inbox, SiteUrls } from "../site-urls.js";
import type { SiteFile } from "./write-files.js";

type FeedUrls = Pick<SiteUrls, "feedUrl" | "endpoint">;

/** The feed and its archives. @param twts - oldest first */
export function feedFiles(twts: readonly Twt[], settings: Settings, urls: FeedUrls): SiteFile[] {
  const feedUrl = urls.feedUrl();
  return splitIntoParts(twts, { path: settings.path, url: feedUrl }).map(({ path, twts, prev }, i) => {
    const isFeed = i === 0;
    const fields = isFeed ? toHeader(settings, urls) : { nick: [settings.nick], url: [feedUrl] };
    return { path, content: formatFeed({ fields: prev ? { ...fields, prev: [prev] } : fields, twts }) };
  });
}

/**
 * Removes archives whose posts are all deleted or moved to another file, because Eleventy deletes nothing. A file of
 * that name stays if it is no archive of this feed.
 *
 * @param feed - the path and the URL of the feed
 */
export async function removeStaleArchives(
  output: string,
  feed: { path: string; url: string },
  parts: readonly SiteFile[],
): Promise<void> {
  const folder = posix.dirname(feed.path);
  const current = new Set(parts.map(({ path }) => path));
  const names = await readdir(join(output, folder)).catch(() => []);
  const archives = names.map((name) => posix.join(folder, name)).filter((path) => isArchivePath(feed.path, path));
  for (const path of archives.filter((path) => !current.has(path))) {
    const { header } = parseFeed(await readFile(join(output, path)));
    if (header.url?.[0] === feed.url) await rm(join(output, path));
  }
}

/**
 * Checks at the end of a build that the site has its feed: a handler or program that nobody waits for may still be changing
 * the output folder.
 *
 * @throws TwtxtError `output-conflict` naming a file that is missing or has other content
 */
export async function checkFeedFiles(output: string, parts: readonly SiteFile[]): Promise<void> {
  for (const { path, content } of parts) {
    const file = join(output, path);
    const found = await readFile(file, "utf8").catch(() => null);
    if (found === content) continue;
    const state = found === null ? "is missing" : "has other content";
    throw authorError(
      "output-conflict",
      `${file} ${state}, although this build has just written it. Another program changes ${output} at the same time: find it among the handlers of "eleventy.after", and have them return a promise that Eleventy waits for.`,
    );
  }
}

/** The header of the feed. Archives have only a nick and a URL. */
function toHeader(settings: Settings, urls: FeedUrls): Partial<Record<FieldName, string[]>> {
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

/** The documents of the account in the fediverse, for a host that only has files. */
export function fediverseFiles({ fediverse, url }: Settings, urls: Pick<SiteUrls, "hasFunctions">): SiteFile[] {
  if (fediverse === undefined || fediverse === BRIDGY || urls.hasFunctions()) return [];
  return Object.values(FEDIVERSE_DOCUMENTS).map(({ path, write }) => ({ path, content: write(fediverse, url) }));
}

/**
 * The discovery documents of the authors; none for an author without an inbox.
 *
 * @throws TwtxtError `bad-option` for an invalid key
 * @see PROTOCOL 3.1
 */
export async function discoveryFiles(inboxes: readonly Inbox[]): Promise<SiteFile[]> {
  if (inboxes.length === 0) return [];
  const [{ parseKey }, { discoveryPaths }] = await Promise.all([
    import("../../keys/key.js"),
    import("../../keys/address.js"),
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
