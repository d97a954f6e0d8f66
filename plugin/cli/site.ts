// plugin/cli/site.ts: the site that a command works on, as its last build left it.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { TwtxtError } from "../errors.js";
import {
  HOST_FILE,
  PUBLISHED_FOLDER,
  type PublishedSite,
  parsePublishedSite,
  parseSiteSettings,
  SERVING_FOLDER,
  SETTINGS_FILE,
  type SiteSettings,
} from "../site/site.js";
import { isMissing } from "./files.js";
import type { Terminal } from "./terminal.js";

/** What stands in a project's root. */
const ROOT_MARKS = ["package.json", ".git"];

const BUILD = "Build the site once, so that this command knows it: npx @11ty/eleventy";

/** A site on this machine. */
export interface Site {
  settings: SiteSettings;
  /** Absolute path of the settings. */
  settingsFile: string;
  /** What builds and `serve` keep beside the settings, absolute. */
  host: Record<"file" | "published" | "serving", string>;
  /** The absolute path of a file that the settings name. */
  file(name: string): string;
  /** How a file is called in front of the person at the terminal: from the working directory. */
  shown(file: string): string;
}

/**
 * Finds the site of the working directory.
 *
 * @param settingsFile - another place of the settings than `.eleventy-twtxt/settings.json` here or in a folder above
 * @throws TwtxtError `no-settings` where no build has left any, or those of another version
 */
export async function siteAt(terminal: Terminal, settingsFile?: string): Promise<Site> {
  const places = settingsFile === undefined ? placesAbove(terminal.folder) : [resolve(terminal.folder, settingsFile)];
  for (const place of places) {
    const text = await readIfThere(place);
    if (text === null) continue;
    const root = dirname(dirname(place));
    return {
      settings: parsed(text, place, parseSiteSettings),
      settingsFile: place,
      host: hostFilesBeside(place),
      file: (name) => fileBelow(root, name),
      shown: (file) => relative(terminal.folder, file) || ".",
    };
  }
  throw new TwtxtError(
    "no-settings",
    `${settingsFile ?? SETTINGS_FILE} is not there. Type this in the folder of the site. ${BUILD}`,
  );
}

/** Up to the project's root and no further: a folder of somebody else's may be above it. */
function placesAbove(folder: string): string[] {
  const above = dirname(folder);
  const isRoot = above === folder || ROOT_MARKS.some((mark) => existsSync(join(folder, mark)));
  return [join(folder, SETTINGS_FILE), ...(isRoot ? [] : placesAbove(above))];
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return null;
    throw new TwtxtError("no-settings", `${file} cannot be read: ${String(Object(error).code)}.`, { cause: error });
  }
}

/** Whether a file is a folder itself or below it. Both are absolute. */
export function isBelow(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way.split(sep)[0] !== ".." && !isAbsolute(way);
}

function fileBelow(root: string, name: string): string {
  const file = resolve(root, name);
  if (isBelow(root, file)) return file;
  throw new TwtxtError("no-settings", `The settings name ${JSON.stringify(name)}, which is outside of the site.`);
}

/**
 * What the last real build handed over to the host of the site.
 *
 * @throws TwtxtError `no-settings` if there was none, or one of another version
 */
export async function publishedSite({ host: { file } }: Pick<Site, "host">): Promise<PublishedSite> {
  const text = await readIfThere(file);
  if (text === null) throw new TwtxtError("no-settings", `${file} is not there. Build the site: npx @11ty/eleventy`);
  return parsed(text, file, parsePublishedSite);
}

function hostFilesBeside(settingsFile: string): Site["host"] {
  const at = (name: string) => join(dirname(settingsFile), basename(name));
  return { file: at(HOST_FILE), published: at(PUBLISHED_FOLDER), serving: at(SERVING_FOLDER) };
}

function parsed<T>(text: string, file: string, parse: (json: string) => T): T {
  try {
    return parse(text);
  } catch (cause) {
    throw new TwtxtError("no-settings", `${file} was not written by a build of this version. ${BUILD}`, { cause });
  }
}
