// plugin/eleventy/netlify-conflicts.ts: conflicts between the site's own Netlify functions and the plugin's.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { NetlifyFunction } from "./netlify-functions.js";

const DEFAULT_FOLDER = "netlify/functions";
/** `functions.directory`, or its older name `build.functions`. */
const FOLDER = /^\s*(?:directory|functions)\s*=\s*["']([^"']+)["']/m;
const CODE = /\.[cm]?[jt]s$/;
const PATHS = /\bpath\s*:\s*(\[[^\]]*\]|"[^"]*"|'[^']*'|`[^`]*`)/g;
const QUOTED = /["'`]([^"'`]*)["'`]/g;

/**
 * Finds functions of the site with the name or a path of a plugin function: Netlify silently uses one of the two. Only
 * paths that are literal in the source are found.
 *
 * @param root - the project's root
 * @returns a warning for each
 */
export async function functionConflicts(root: string, ours: readonly NetlifyFunction[]): Promise<string[]> {
  const toml = await readFile(join(root, "netlify.toml"), "utf8").catch(() => "");
  const folder = FOLDER.exec(toml)?.[1] ?? DEFAULT_FOLDER;
  const files = await readdir(join(root, folder), { recursive: true }).catch(() => []);
  const sources = files.filter((file) => CODE.test(file) && !file.includes("node_modules")).sort();
  const warnings = sources.map(async (file) => {
    const text = await readFile(join(root, folder, file), "utf8").catch(() => "");
    return conflictsOf(`${folder}/${file}`, nameOf(file), pathsIn(text), ours);
  });
  return (await Promise.all(warnings)).flat();
}

function conflictsOf(file: string, name: string, paths: string[], ours: readonly NetlifyFunction[]): string[] {
  const isNamesake = ours.some((one) => `twtxt-${one.name}` === name);
  const taken = paths.filter((path) => ours.some((one) => one.paths.includes(path)));
  return [
    ...(isNamesake ? [`${file} has the same name as a function of the plugin, so Netlify ignores one of them.`] : []),
    ...taken.map((path) => `${file} has the path ${path}, like a function of the plugin.`),
  ].map((sentence) => `${sentence} Change yours, or set the option "functions" to false.`);
}

/** The name of a function: that of its file or folder. */
function nameOf(file: string): string {
  return file.split(/[\\/]/)[0]?.replace(CODE, "") ?? "";
}

function pathsIn(source: string): string[] {
  return [...source.matchAll(PATHS)].flatMap(([, list = ""]) =>
    [...list.matchAll(QUOTED)].map(([, path = ""]) => path),
  );
}
