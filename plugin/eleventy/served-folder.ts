// plugin/eleventy/served-folder.ts: keeps previews out of the folder that visitors see.
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { authorError } from "../errors.js";
import { HOST_FILE, PREVIEW_FOLDER, SERVING_FOLDER } from "./host-settings.js";

/**
 * Stops a preview that would write into the folder that `eleventy-twtxt serve` is serving: visitors would see drafts, and
 * their pages would stay there.
 *
 * @param root - the project's root
 * @param output - the folder that the preview writes into
 * @throws TwtxtError `output-conflict`
 */
export async function refuseServedFolder(root: string, output: string): Promise<void> {
  const served = await outputOfLastBuild(root);
  // Without a note of a real build, any folder may be the one that is served.
  if (served !== null && resolve(root, served) !== resolve(root, output)) return;
  const { occupantsOf } = await import("../store/occupants.js");
  const [process] = await occupantsOf(join(root, SERVING_FOLDER));
  if (process === undefined) return;
  throw authorError(
    "output-conflict",
    `"eleventy-twtxt serve" (process ${process}) shows ${output} to visitors, and a preview would show them drafts. Preview into another folder: npx @11ty/eleventy --serve --output=${PREVIEW_FOLDER} (or npm start -- --output=${PREVIEW_FOLDER}). Or end serve first.`,
  );
}

/** @returns `null` before the first real build */
async function outputOfLastBuild(root: string): Promise<string | null> {
  try {
    const { output } = Object(JSON.parse(await readFile(join(root, HOST_FILE), "utf8")));
    return typeof output === "string" ? output : null;
  } catch {
    return null;
  }
}
