// plugin/eleventy/publish.ts: files of a real build for the host.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { HOST_FILE, PUBLISHED_FOLDER, type PublishedSite } from "../site/site.js";
import { replaceFile } from "./output.js";
import type { SiteFile } from "./site-files.js";

/**
 * Writes the files for `eleventy-twtxt serve` and `send`. Not for development builds, which may contain drafts.
 *
 * @param root - the project's root
 * @param files - the feed, its archives and the discovery documents
 */
export async function publish(root: string, site: PublishedSite, files: readonly SiteFile[]): Promise<void> {
  await replaceFolder(join(root, PUBLISHED_FOLDER), files);
  // Last, because `eleventy-twtxt serve` watches this file.
  await replaceFile(join(root, HOST_FILE), `${JSON.stringify(site)}\n`);
}

/** Writes the files, each atomically, and removes all others. */
async function replaceFolder(folder: string, files: readonly SiteFile[]): Promise<void> {
  await Promise.all(files.map(({ path, content }) => replaceFile(join(folder, path), content)));
  const current = new Set(files.map(({ path }) => join(folder, path)));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const stale = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => !current.has(file));
  await Promise.all(stale.map((file) => rm(file, { force: true })));
}
