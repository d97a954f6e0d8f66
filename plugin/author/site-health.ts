// plugin/author/site-health.ts: the state of the author's site, as far as this machine knows it: versions, data, and what was sent.
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { PublishedSite } from "../site/site.js";
import { FileStore } from "../store/file.js";
import type { AuthorChoice } from "./choice.js";
import { isMissing } from "./files.js";
import { version } from "./invocation.js";
import type { Machine } from "./machine.js";
import { type ReportedMention, sentMentions } from "./sent-mentions.js";
import { publishedSite, siteAt } from "./site.js";
import { storeFolder } from "./site-store.js";

export interface SiteHealth {
  /** Of this package, and of Node.js. */
  versions: { plugin: string; node: string };
  url: string;
  /** The last production build. */
  built: Date;
  /** The data of the site; `null` where only the host can access them. */
  data: { folder: string; bytes: number; sent: ReportedMention[] } | null;
}

/** @throws TwtxtError `no-settings`; `store-failed` */
export async function siteHealth({ settings }: Pick<AuthorChoice, "settings">, machine: Machine): Promise<SiteHealth> {
  const site = await siteAt(machine, settings);
  const published = await publishedSite(site);
  const isHere = published.settings.host !== "netlify";
  return {
    versions: { plugin: version(), node: process.versions.node },
    url: published.settings.url,
    built: (await lstat(site.host.file)).mtime,
    data: isHere ? await dataIn(await storeFolder(site, true, machine), published) : null,
  };
}

async function dataIn(folder: string, { settings: { feedUrl } }: PublishedSite) {
  const sent = await sentMentions(new FileStore(folder), feedUrl);
  return { folder, bytes: await sizeOf(folder), sent };
}

/** The size of a folder with all its files, in bytes; 0 for none. */
async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await sizeOf(path);
    else bytes += await lstat(path).then(({ size }) => size, ifGone);
  }
  return bytes;
}

function entriesOf(folder: string) {
  return readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

/** A running server may delete files meanwhile. */
function ifGone(error: unknown): number {
  if (isMissing(error)) return 0;
  throw error;
}
