// plugin/eleventy/preview-files.ts: removal of pages that a preview left in the output folder.
import { readFile, rm, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { replaceFile } from "./output.js";

/** The files that previews wrote since the last real build, from the project's root, each with its time of modification. */
const FILE = ".eleventy-twtxt/preview.json";

type Times = Record<string, number>;

/** Adds the files of a preview to those of the previews before. */
export async function notePreviewFiles(root: string, files: readonly string[]): Promise<void> {
  const entries = await Promise.all(
    files.map(async (file) => [relative(root, resolve(root, file)), await modifiedAt(resolve(root, file))] as const),
  );
  const found = Object.fromEntries(entries.filter(([, time]) => time !== null));
  await replaceFile(join(root, FILE), `${JSON.stringify({ ...(await readTimes(root)), ...found })}\n`);
}

/**
 * Removes what previews wrote into the output folder of a real build, such as pages of drafts: Eleventy itself deletes
 * nothing. Files that this build or another program wrote since stay.
 *
 * @param output - the folder that the build writes into
 * @param files - what the build wrote
 * @returns the removed files, from the project's root
 */
export async function removePreviewFiles(root: string, output: string, files: readonly string[]): Promise<string[]> {
  const times = await readTimes(root);
  const here = Object.keys(times).filter((file) => resolve(root, file).startsWith(resolve(root, output) + sep));
  if (here.length === 0) return [];
  const current = new Set(files.map((file) => resolve(root, file)));
  const removed: string[] = [];
  for (const file of here) {
    const path = resolve(root, file);
    if (!current.has(path) && (await modifiedAt(path)) === times[file]) {
      await rm(path, { force: true });
      removed.push(file);
    }
    delete times[file];
  }
  await replaceFile(join(root, FILE), `${JSON.stringify(times)}\n`);
  return removed;
}

async function readTimes(root: string): Promise<Times> {
  try {
    return Object(JSON.parse(await readFile(join(root, FILE), "utf8")));
  } catch {
    return {};
  }
}

/** @returns `null` where there is no such file */
async function modifiedAt(file: string): Promise<number | null> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
}
