// plugin/cli/doctor/own-site.ts: what the working directory knows of the author's own site.
import { TwtxtError } from "../../errors.js";
import type { HostSettings } from "../../site/site.js";
import { publishedSite, siteAt } from "../site.js";
import type { Terminal } from "../terminal.js";

/** One's own site, as its last build left it. */
export interface OwnSite {
  feedUrl: string;
  urls: HostSettings["urls"];
  /** `user@domain`; `null` for a site without documents of an address. */
  address: string | null;
}

/**
 * @param settingsFile - where the settings are, if not here
 * @returns `null` where none were built
 * @throws TwtxtError `no-settings` for a named place that has none
 */
export async function ownSite(terminal: Terminal, settingsFile: string | undefined): Promise<OwnSite | null> {
  try {
    const site = await siteAt(terminal, settingsFile);
    const { feedUrl, urls } = (await publishedSite(site)).settings;
    return { feedUrl, urls, address: site.settings.authors.find(({ endpoint }) => endpoint !== null)?.address ?? null };
  } catch (error) {
    const isNone = error instanceof TwtxtError && error.code === "no-settings" && settingsFile === undefined;
    if (isNone) return null;
    throw error;
  }
}
