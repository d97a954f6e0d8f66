// plugin/eleventy/netlify-conflicts.ts: where a site's own functions and ours are in each other's way.
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
 * Looks through the site's own functions, as far as their paths stand in the source text. Of two functions with one name
 * or one path, Netlify silently takes one.
 *
 * @param root - the project's root
 * @returns a sentence for each
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
    ...(isNamesake ? [`${file} has the name of a function that the plugin writes, and one of the two is lost.`] : []),
    ...taken.map((path) => `${file} answers at ${path}, as a function of the plugin does.`),
  ].map((sentence) => `${sentence} Give yours another one, or set the option "functions" to false.`);
}

/** A function is a file, or a folder by its name. */
function nameOf(file: string): string {
  return file.split(/[\\/]/)[0]?.replace(CODE, "") ?? "";
}

function pathsIn(source: string): string[] {
  return [...source.matchAll(PATHS)].flatMap(([, list = ""]) =>
    [...list.matchAll(QUOTED)].map(([, path = ""]) => path),
  );
}
