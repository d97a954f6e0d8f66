// plugin/host/site-prefix.ts: what stands before every path of a site.
import type { HostSettings } from "../eleventy/host-settings.js";

const ANY = "/mentions.json";

/** @returns such as `/blog`; empty for a site at the root */
export function prefixOf({ urls }: Pick<HostSettings, "urls">): string {
  return new URL(urls.mentionsJson).pathname.slice(0, -ANY.length);
}
