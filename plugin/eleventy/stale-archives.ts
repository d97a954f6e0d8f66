// plugin/eleventy/stale-archives.ts: removes archives of the feed that earlier builds wrote.
import { readdir, readFile, rm } from "node:fs/promises";
import { join, posix } from "node:path";
import { isArchiveOf } from "../feed/archive.js";
import { parseFeed } from "../feed/feed.js";
import type { SiteFile } from "./output.js";

/**
 * Removes archives whose posts are all deleted or moved to another file, because Eleventy deletes nothing. Other files of
 * such a name stay.
 *
 * @param output - the folder of the built site
 * @param feed - the path and the URL of the feed
 * @param parts - the feed and its archives as this build writes them
 */
export async function removeStaleArchives(
  output: string,
  feed: { path: string; url: string },
  parts: readonly SiteFile[],
): Promise<void> {
  const folder = posix.dirname(feed.path);
  const current = new Set(parts.map(({ path }) => path));
  const names = await readdir(join(output, folder)).catch(() => []);
  const archives = names.map((name) => posix.join(folder, name)).filter((path) => isArchiveOf(feed.path, path));
  for (const path of archives.filter((path) => !current.has(path))) {
    const { header } = parseFeed(await readFile(join(output, path)));
    if (header.url?.[0] === feed.url) await rm(join(output, path));
  }
}
