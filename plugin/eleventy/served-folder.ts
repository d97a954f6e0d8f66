// plugin/eleventy/served-folder.ts: keeps previews and other sites out of the folder that visitors see.
import { readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { authorError } from "../errors.js";
import { HOST_FILE, PREVIEW_FOLDER, SERVING_FOLDER } from "../site/site.js";

/**
 * Stops a preview that would write into the folder that `eleventy-twtxt serve` is serving: visitors would see drafts, and
 * their pages would stay there.
 *
 * @param root - the project's root
 * @param output - the folder that the preview writes into
 * @throws TwtxtError `output-conflict`
 */
export async function refuseServedFolder(root: string, output: string): Promise<void> {
  const { output: served } = await lastBuild(root);
  // Without a note of a real build, any folder may be the one that is served.
  if (served !== null && (await realPath(root, served)) !== (await realPath(root, output))) return;
  const process = await servingProcess(root);
  if (process === undefined) return;
  throw authorError(
    "output-conflict",
    `"eleventy-twtxt serve" (process ${process}) shows ${output} to visitors, and a preview would show them drafts. Preview into another folder: npx @11ty/eleventy --serve --output=${PREVIEW_FOLDER} (or npm start -- --output=${PREVIEW_FOLDER}). Or end serve first.`,
  );
}

/**
 * Stops a build for another address than the one that is being served: the running server would take it up, change the
 * identity of its feed and refuse mentions of its own pages.
 *
 * @param root - the project's root
 * @param url - the option `url` of the build
 * @throws TwtxtError `output-conflict`
 */
export async function refuseOtherSite(root: string, url: string): Promise<void> {
  const { url: served } = await lastBuild(root);
  if (served === null || served === url) return;
  const process = await servingProcess(root);
  if (process === undefined) return;
  throw authorError(
    "output-conflict",
    `"eleventy-twtxt serve" (process ${process}) serves ${served} from this folder, and this build is for ${url}. If the address changes, end serve first. If this is a trial, preview it: npx @11ty/eleventy --serve --output=${PREVIEW_FOLDER}`,
  );
}

async function servingProcess(root: string): Promise<number | undefined> {
  const { processesUsing } = await import("../store/store-users.js");
  return (await processesUsing(join(root, SERVING_FOLDER)))[0];
}

/** A symbolic link may lead to the served folder, too. */
async function realPath(root: string, folder: string): Promise<string> {
  const path = resolve(root, folder);
  return realpath(path).catch(() => path);
}

/** What the last real build has left; `null` for what is not there. */
async function lastBuild(root: string): Promise<{ output: string | null; url: string | null }> {
  try {
    const { output, url } = Object(JSON.parse(await readFile(join(root, HOST_FILE), "utf8")).settings);
    return { output: typeof output === "string" ? output : null, url: typeof url === "string" ? url : null };
  } catch {
    return { output: null, url: null };
  }
}
