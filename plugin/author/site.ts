// plugin/author/site.ts: the site of a command: the settings and files that its last build left.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { ifTwtxtError, TwtxtError } from "../errors.js";
import { isBelow } from "../site/real-path.js";
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
import { ifThere } from "./files.js";
import type { Machine } from "./machine.js";

const ROOT_MARKS = ["package.json", ".git"];

const BUILD = "Build the site first: npx @11ty/eleventy";

export interface Site {
  settings: SiteSettings;
  /** Files of builds and of `serve` beside the settings, and the folder of processes that follow feeds; absolute. */
  host: Record<"file" | "published" | "serving" | "following", string>;
  /** The absolute path of a file that the settings name. */
  file(name: string): string;
  /** A path relative to the working directory, for messages. */
  shown(file: string): string;
}

/**
 * Finds the site of the working directory.
 *
 * @param settingsFile - instead of `.eleventy-twtxt/settings.json` here or in a folder above
 * @throws TwtxtError `no-settings` for no settings, or settings of another version
 */
export async function loadSite(machine: Machine, settingsFile?: string): Promise<Site> {
  const places = settingsFile === undefined ? placesAbove(machine.folder) : [resolve(machine.folder, settingsFile)];
  for (const place of places) {
    const text = await readIfThere(place);
    if (text === null) continue;
    const root = dirname(dirname(place));
    const beside = (name: string) => join(dirname(place), basename(name));
    return {
      settings: parsed(text, place, parseSiteSettings),
      host: {
        file: beside(HOST_FILE),
        published: beside(PUBLISHED_FOLDER),
        serving: beside(SERVING_FOLDER),
        following: beside("following"),
      },
      file: (name) => fileBelow(root, name),
      shown: (file) => relative(machine.folder, file) || ".",
    };
  }
  if (settingsFile !== undefined) throw new TwtxtError("no-settings", `There is no ${settingsFile}. ${BUILD}`);
  throw new TwtxtError(
    "no-settings",
    `There is no built site here: ${SETTINGS_FILE} is missing. Change to the folder of your site, and build it: npx @11ty/eleventy`,
  );
}

/**
 * For commands that also work without a site.
 *
 * @param settingsFile - as in {@link loadSite}
 * @returns `null` for no built site, unless a settings file was named
 */
export async function ifBuilt<T>(settingsFile: string | undefined, work: Promise<T>): Promise<T | null> {
  return settingsFile === undefined ? work.catch(ifTwtxtError(() => null, "no-settings")) : work;
}

/** Stops at the root of the project: folders above it may belong to others. */
function placesAbove(folder: string): string[] {
  const above = dirname(folder);
  const isRoot = above === folder || ROOT_MARKS.some((mark) => existsSync(join(folder, mark)));
  return [join(folder, SETTINGS_FILE), ...(isRoot ? [] : placesAbove(above))];
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await ifThere(readFile(file, "utf8"));
  } catch (error) {
    throw new TwtxtError("no-settings", `${file} cannot be read: ${String(Object(error).code)}.`, { cause: error });
  }
}

function fileBelow(root: string, name: string): string {
  const file = resolve(root, name);
  if (isBelow(root, file)) return file;
  throw new TwtxtError("no-settings", `The settings name ${JSON.stringify(name)}, which is outside the site.`);
}

/**
 * The site as the last production build published it.
 *
 * @throws TwtxtError `no-settings` for no such build, or one of another version
 */
export async function publishedSite({ host: { file } }: Pick<Site, "host">): Promise<PublishedSite> {
  const text = await readIfThere(file);
  if (text === null) throw new TwtxtError("no-settings", `There is no ${file}. ${BUILD}`);
  return parsed(text, file, parsePublishedSite);
}

function parsed<T>(text: string, file: string, parse: (json: string) => T): T {
  try {
    return parse(text);
  } catch (cause) {
    throw new TwtxtError("no-settings", `${file} was not written by a build of this version. ${BUILD}`, { cause });
  }
}
