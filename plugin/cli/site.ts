// plugin/cli/site.ts: the site that a command works on, as its last build left it.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import * as v from "valibot";
import { SETTINGS_FILE, type SiteSettings } from "../eleventy/site-settings.js";
import { TwtxtError } from "../errors.js";
import { toInstant } from "../feed/timestamp.js";
import { isTimeZone } from "../options.js";
import { isMissing } from "./files.js";
import type { Terminal } from "./terminal.js";

/** What stands in a project's root. */
const ROOT_MARKS = ["package.json", ".git"];

const BUILD = "Build the site once, so that this command knows it: npx @11ty/eleventy";

/** What the commands read of the settings; the build may leave more. */
export type KnownSettings = Pick<
  SiteSettings,
  | "feedUrl"
  | "host"
  | "input"
  | "output"
  | "isDevelopment"
  | "timeZone"
  | "webmention"
  | "address"
  | "authors"
  | "blobs"
  | "notes"
  | "unstamped"
>;

const TIMESTAMP = v.pipe(
  v.string(),
  v.check((timestamp) => toInstant(timestamp) === timestamp),
);

const SETTINGS: v.GenericSchema<unknown, KnownSettings> = v.object({
  version: v.literal(3),
  feedUrl: v.string(),
  host: v.picklist(["netlify", "node", "static"]),
  input: v.string(),
  output: v.string(),
  isDevelopment: v.boolean(),
  timeZone: v.pipe(v.string(), v.check(isTimeZone)),
  webmention: v.nullable(v.string()),
  address: v.nullable(v.string()),
  authors: v.array(v.object({ address: v.string(), key: v.string(), endpoint: v.nullable(v.string()) })),
  blobs: v.nullable(v.object({ api: v.string(), shared: v.string(), maxBytes: v.number() })),
  notes: v.object({
    folders: v.array(v.string()),
    hasAny: v.boolean(),
    like: v.nullable(v.string()),
    tags: v.array(v.string()),
    layout: v.nullable(v.string()),
  }),
  unstamped: v.array(v.object({ file: v.string(), timestamp: v.nullable(TIMESTAMP), shared: v.optional(TIMESTAMP) })),
});

/** A site on this machine. */
export interface Site {
  settings: KnownSettings;
  /** Where they stand, absolute. */
  settingsFile: string;
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
      settings: parseSettings(text, place),
      settingsFile: place,
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

function parseSettings(text: string, file: string): KnownSettings {
  try {
    return v.parse(SETTINGS, JSON.parse(text));
  } catch (cause) {
    throw new TwtxtError("no-settings", `${file} is not what a build of this version leaves. ${BUILD}`, { cause });
  }
}
