// plugin/author/doctor/site-health.ts: the state of the author's site, as far as this machine knows it: versions, data, and what was sent.
import { lstat, readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { SiteSettings } from "../../site/site.js";
import { ifThere } from "../files.js";
import { version } from "../invocation.js";
import type { AuthorChoice, Machine } from "../machine.js";
import { type ReportedMention, sentMentions } from "../mentions/sent-mentions.js";
import { publishedSite, type Site, siteAt } from "../site.js";
import { siteStore } from "../site-store.js";

export interface SiteHealth {
  /** The versions of this package, Node.js, Eleventy in the site's folder, and the site; `null` if unknown. */
  versions: { plugin: string; node: string; eleventy: string | null; site: string | null };
  url: string;
  host: SiteSettings["host"];
  /** The last production build. */
  built: Date;
  /** The data of the site; `null` where only the host can access them. */
  data: SiteData | null;
}

interface SiteData {
  /** A folder or a bucket. */
  place: string;
  /** `null` for a bucket. */
  bytes: number | null;
  sent: ReportedMention[];
}

/** @throws TwtxtError `no-settings`; `store-failed` */
export async function siteHealth({ settings }: Pick<AuthorChoice, "settings">, machine: Machine): Promise<SiteHealth> {
  const site = await siteAt(machine, settings);
  const { url, host, feedUrl } = (await publishedSite(site)).settings;
  return {
    versions: { plugin: version(), node: process.versions.node, ...(await versionsOf(site)) },
    ...{ url, host },
    built: (await lstat(site.host.file)).mtime,
    data: host === "netlify" ? null : await dataOf(site, feedUrl, machine),
  };
}

async function dataOf(site: Site, feedUrl: string, machine: Machine): Promise<SiteData> {
  const request = { command: "client", store: undefined };
  const { store, folder, place } = await siteStore(site, request, machine);
  const bytes = folder === null ? null : await sizeOf(folder);
  return { place, bytes, sent: await sentMentions(store, feedUrl) };
}

async function versionsOf({ file }: Site): Promise<Pick<SiteHealth["versions"], "eleventy" | "site">> {
  const manifest = file("package.json");
  const folders = createRequire(manifest).resolve.paths("@11ty/eleventy") ?? [];
  const found = await Promise.all(folders.map((folder) => versionIn(join(folder, "@11ty/eleventy/package.json"))));
  return { eleventy: found.find((one) => one !== null) ?? null, site: await versionIn(manifest) };
}

/** @returns `null` for no version, and for no such file */
async function versionIn(manifest: string): Promise<string | null> {
  const json = await ifThere(readFile(manifest, "utf8"));
  try {
    const { version } = Object(JSON.parse(json ?? "{}"));
    return typeof version === "string" ? version : null;
  } catch {
    return null;
  }
}

/** The size of a folder with all its files, in bytes; 0 for none. */
async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  // A running server may delete files meanwhile.
  for (const entry of (await ifThere(readdir(folder, { withFileTypes: true }))) ?? []) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? await sizeOf(path) : ((await ifThere(lstat(path)))?.size ?? 0);
  }
  return bytes;
}
