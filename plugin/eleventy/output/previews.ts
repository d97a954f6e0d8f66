// plugin/eleventy/output/previews.ts: keeps previews, which may contain drafts, out of the site that visitors see.
import { readFile, rm, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { authorError } from "../../errors.js";
import { parseJson } from "../../http/one-line.js";
import { findRealPath, isBelow } from "../../site/real-path.js";
import { HOST_FILE, PREVIEW_FOLDER, SERVING_FOLDER } from "../../site/site.js";
import { replaceFile } from "../../store/disk.js";

/** The files that previews wrote since the last real build, by path from the project's root, with their modification times. */
const PREVIEW_FILES = ".eleventy-twtxt/preview.json";

/**
 * Stops a preview that would write into the folder that `eleventy-twtxt serve` is serving.
 *
 * @throws TwtxtError `output-conflict`
 */
export async function refuseServedFolder(root: string, output: string): Promise<void> {
  const { output: served } = await lastBuild(root);
  // Without the settings of a real build, any folder may be the served one.
  if (typeof served === "string" && !isWithin(resolve(root, served), resolve(root, output))) return;
  await refuseWhileServing(
    root,
    (server) =>
      `${server} serves ${output}, so visitors would see the drafts of this preview. Use another folder: npx @11ty/eleventy --serve --output=${PREVIEW_FOLDER} (or npm start -- --output=${PREVIEW_FOLDER}). Or stop the server first.`,
  );
}

/**
 * Stops a build for a site other than the served one: the running server would load it, change the identity of its feed
 * and refuse mentions of its pages.
 *
 * @throws TwtxtError `output-conflict`
 */
export async function refuseOtherSite(root: string, url: string): Promise<void> {
  const { url: served } = await lastBuild(root);
  if (typeof served !== "string" || served === url) return;
  await refuseWhileServing(
    root,
    (server) =>
      `${server} serves ${served} from this folder, and this build is for ${url}. If the site moves to this URL, stop the server first. For a trial, use a preview: npx @11ty/eleventy --serve --output=${PREVIEW_FOLDER}`,
  );
}

/** @throws TwtxtError `output-conflict` with this message while a server is running */
async function refuseWhileServing(root: string, message: (server: string) => string): Promise<void> {
  const { processesUsing } = await import("../../store/processes.js");
  const [process] = await processesUsing(join(root, SERVING_FOLDER));
  if (process === undefined) return;
  throw authorError("output-conflict", message(`"eleventy-twtxt serve" (process ${process})`));
}

/** Resolves symbolic links, because one may lead into the served folder. */
function isWithin(served: string, output: string): boolean {
  const [outer, inner] = [findRealPath(served), findRealPath(output)];
  return outer === null || inner === null || isBelow(outer, inner);
}

export async function lastBuild(root: string): Promise<{ output?: unknown; url?: unknown }> {
  const { settings } = await readJson(join(root, HOST_FILE));
  return Object(settings);
}

export async function notePreviewFiles(root: string, files: readonly string[]): Promise<void> {
  const entries = await Promise.all(
    files.map(async (file) => [relative(root, resolve(root, file)), await readModified(resolve(root, file))] as const),
  );
  const found = Object.fromEntries(entries.filter(([, time]) => time !== null));
  const file = join(root, PREVIEW_FILES);
  await replaceFile(file, `${JSON.stringify({ ...(await readJson(file)), ...found })}\n`);
}

/**
 * Removes files of previews from the output folder of a real build, because Eleventy deletes nothing. Files that this
 * build or another program has written since stay.
 *
 * @returns the removed files, from the project's root
 */
export async function removePreviewFiles(root: string, output: string, files: readonly string[]): Promise<string[]> {
  const times = await readJson(join(root, PREVIEW_FILES));
  const here = Object.keys(times).filter((file) => resolve(root, file).startsWith(resolve(root, output) + sep));
  if (here.length === 0) return [];
  const current = new Set(files.map((file) => resolve(root, file)));
  const removed: string[] = [];
  for (const file of here) {
    const path = resolve(root, file);
    if (!current.has(path) && (await readModified(path)) === times[file]) {
      await rm(path, { force: true });
      removed.push(file);
    }
    delete times[file];
  }
  await replaceFile(join(root, PREVIEW_FILES), `${JSON.stringify(times)}\n`);
  return removed;
}

/** Reads an object; empty if there is no valid file. */
async function readJson(file: string): Promise<Record<string, unknown>> {
  return Object(parseJson(await readFile(file, "utf8").catch(() => "")));
}

async function readModified(file: string): Promise<number | null> {
  return (await stat(file).catch(() => null))?.mtimeMs ?? null;
}
