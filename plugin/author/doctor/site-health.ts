// plugin/author/doctor/site-health.ts: the state of the author's site: versions, data, and what was sent.
import { lstat, readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { SiteSettings } from "../../site/site.js";
import type { SiteState } from "../../site/site-state.js";
import { ifThere } from "../files.js";
import { version } from "../invocation.js";
import type { Machine } from "../machine.js";
import { askSiteState, readSentMentions, type SentMentions } from "../mentions/sent-mentions.js";
import type { SiteApiChoice } from "../own-site.js";
import { loadSite, publishedSite, type Site } from "../site.js";
import { siteStore } from "../site-store.js";

export interface SiteHealth {
  /** The versions of this package, Node.js, Eleventy in the site's folder, and the site; `null` if unknown. */
  versions: { plugin: string; node: string; eleventy: string | null; site: string | null };
  url: string;
  host: SiteSettings["host"];
  built: Date;
  /** The state that the site itself tells; `null` if it was not asked or did not answer. */
  told: SiteState | null;
  /** Why the site could not be asked, a sentence; `null` if it answered, or is on a static host. */
  fault: string | null;
  /**
   * The folder or bucket of the data on this machine, and the size of a folder; `null` if the site told its own, or where
   * only the host can access them.
   */
  data: { place: string; bytes: number | null } | null;
  /** By the site, or by the data on this machine; `null` if neither is known. */
  sent: SentMentions | null;
}

/**
 * Asks the site, or reads the data on this machine if it does not answer.
 *
 * @param most - how many sent mentions to read
 * @throws TwtxtError `no-settings`; `store-failed`
 */
export async function siteHealth(choice: SiteApiChoice, machine: Machine, most: number): Promise<SiteHealth> {
  const site = await loadSite(machine, choice.settings);
  const { url, host, feedUrl } = (await publishedSite(site)).settings;
  const facts = {
    versions: { plugin: version(), node: process.versions.node, ...(await readVersions(site)) },
    ...{ url, host },
    built: (await lstat(site.host.file)).mtime,
  };
  const told = await askSiteState(choice, machine, most);
  if (told !== null && "state" in told) {
    return { ...facts, told: told.state, fault: null, data: null, sent: told.sent };
  }
  const unasked = { ...facts, told: null, fault: told?.message ?? null };
  if (host === "netlify") return { ...unasked, data: null, sent: null };
  const { store, folder, place } = await siteStore(site, { command: "client", store: undefined }, machine);
  const bytes = folder === null ? null : await measureFolder(folder);
  return { ...unasked, data: { place, bytes }, sent: await readSentMentions(store, feedUrl, most) };
}

async function readVersions({ file }: Site): Promise<Pick<SiteHealth["versions"], "eleventy" | "site">> {
  const manifest = file("package.json");
  const folders = createRequire(manifest).resolve.paths("@11ty/eleventy") ?? [];
  const found = await Promise.all(folders.map((folder) => readVersion(join(folder, "@11ty/eleventy/package.json"))));
  return { eleventy: found.find((one) => one !== null) ?? null, site: await readVersion(manifest) };
}

/** @returns `null` for no version, and for no such file */
async function readVersion(manifest: string): Promise<string | null> {
  const json = await ifThere(readFile(manifest, "utf8"));
  try {
    const { version } = Object(JSON.parse(json ?? "{}"));
    return typeof version === "string" ? version : null;
  } catch {
    return null;
  }
}

/** The size of a folder with all its files, in bytes; 0 for none. */
async function measureFolder(folder: string): Promise<number> {
  let bytes = 0;
  // A running server may delete files meanwhile.
  for (const entry of (await ifThere(readdir(folder, { withFileTypes: true }))) ?? []) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? await measureFolder(path) : ((await ifThere(lstat(path)))?.size ?? 0);
  }
  return bytes;
}
