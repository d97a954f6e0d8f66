// plugin/cli/host-files.ts: what a build has left for whoever serves the site.
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  HOST_FILE,
  type HostSettings,
  PAGES_FILE,
  PUBLISHED_FOLDER,
  SERVING_FOLDER,
  type SitePages,
} from "../eleventy/host-settings.js";
import { TwtxtError } from "../errors.js";
import type { HostFiles } from "../host/site-host.js";
import { isMissing } from "./files.js";

const BUILD = "Build the site: npx @11ty/eleventy";

/** Where they are: beside the settings that the other commands read. */
export function hostFilesAt(settingsFile: string): Record<"settings" | "pages" | "published" | "serving", string> {
  const at = (name: string) => join(dirname(settingsFile), basename(name));
  return {
    settings: at(HOST_FILE),
    pages: at(PAGES_FILE),
    published: at(PUBLISHED_FOLDER),
    serving: at(SERVING_FOLDER),
  };
}

/** @throws TwtxtError `no-settings` where no build has left any, or one of another version */
export async function readHostFiles(settingsFile: string): Promise<HostFiles> {
  const files = hostFilesAt(settingsFile);
  const [settings, pages] = await Promise.all([readJson(files.settings), readJson(files.pages)]);
  if (Object(settings).version !== 4 || !Array.isArray(Object(pages).feeds)) throw notOurs(files.settings);
  return { settings: settings as HostSettings, pages: pages as SitePages };
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (cause) {
    if (isMissing(cause)) throw new TwtxtError("no-settings", `${file} is not there. ${BUILD}`, { cause });
    throw notOurs(file, { cause });
  }
}

function notOurs(file: string, options?: ErrorOptions): TwtxtError {
  return new TwtxtError("no-settings", `${file} is not what a build of this version leaves. ${BUILD}`, options);
}
