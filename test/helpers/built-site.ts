// test/helpers/built-site.ts: the settings and pages that a build writes for a site, without a build.
import type { EleventyConfig } from "../../plugin/eleventy/eleventy.js";
import { siteSettings } from "../../plugin/eleventy/output/site-settings.js";
import { SiteUrls } from "../../plugin/eleventy/site-urls.js";
import { checkOptions, type TwtxtOptions } from "../../plugin/options.js";
import {
  HOST_FILE,
  hostSettings,
  type PublishedSite,
  SETTINGS_FILE,
  type SiteSettings,
} from "../../plugin/site/site.js";

/** A site without posts. */
export interface BuiltSettings {
  settings: SiteSettings;
  /** The options, with defaults. */
  options: ReturnType<typeof checkOptions>;
  urls: SiteUrls;
}

/**
 * @param url - the URL of the home page, without a slash at its end; its path is the path prefix
 * @param given - options that replace those of Alice's site on a Node.js host
 */
export function builtSite(url: string, given: Partial<TwtxtOptions> = {}): BuiltSettings {
  const options = checkOptions({ url: new URL(url).origin, nick: "alice", timeZone: "UTC", host: "node", ...given });
  const host = options.host ?? "node";
  const prefix = new URL(`${url}/`).pathname;
  const config = { getFilter: (name: string) => (name === "url" ? () => prefix : undefined) };
  const urls = new SiteUrls(config as EleventyConfig, options, {
    host: { name: host, reason: null },
    client: "eleventy-plugin-twtxt/0.0.0",
  });
  const schedule = { dated: [], undated: [], held: [], moved: [] };
  const followed = { file: "_data/follow.json", option: options.follow };
  const build = { host, input: ".", output: "./_site", isDevelopment: false, followed, schedule };
  return { settings: siteSettings(options, urls, build), options, urls };
}

/** `.eleventy-twtxt/settings.json` as each build writes it. */
export function settingsFile(settings: SiteSettings): Record<string, string> {
  return { [SETTINGS_FILE]: JSON.stringify(settings) };
}

/** `.eleventy-twtxt/host.json` as a real build writes it. */
export function hostFile({ settings, pages }: PublishedSite): Record<string, string> {
  return { [HOST_FILE]: JSON.stringify({ settings, pages }) };
}

/** The settings that the host of the site gets. */
export function builtHostSettings(...site: Parameters<typeof builtSite>) {
  return hostSettings(builtSite(...site).settings);
}
