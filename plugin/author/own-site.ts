// plugin/author/own-site.ts: signed requests to the author's own site.
import * as v from "valibot";
import { TwtxtError } from "../errors.js";
import { type SiteApiOptions, siteApi } from "../http/site-api.js";
import type { Bases } from "../site/routes.js";
import type { HostSettings } from "../site/site.js";
import { ownIdentities, siteWithoutKey } from "./author.js";
import { typed } from "./invocation.js";
import type { Machine, OwnSiteChoice } from "./machine.js";
import { ownUrl } from "./network.js";
import { loadSite, publishedSite } from "./site.js";

export type SiteApiChoice = Pick<OwnSiteChoice, "url" | "settings" | "identity">;

/**
 * Opens an API of the site here, as its last real build has it. Sends nothing yet.
 *
 * @param check - throws for a site without this API
 * @returns its absolute URL, a function that sends requests to it, and the settings of the site
 * @throws TwtxtError `no-settings`; `no-identity` or `bad-identity` without the key of one of its authors
 */
export async function openSiteApi(
  base: keyof Bases,
  { url, settings, identity: file }: SiteApiChoice,
  machine: Machine,
  { check = () => {}, ...options }: Pick<SiteApiOptions, "idleTimeoutMs"> & { check?(site: HostSettings): void } = {},
) {
  const here = await loadSite(machine, settings);
  const { settings: site } = await publishedSite(here);
  check(site);
  if (site.authors.length === 0 && file === undefined) throw await siteWithoutKey(here, machine);
  const [signer] = await ownIdentities(machine, { authors: site.authors, file });
  const root = ownUrl(site.urls[base], { url });
  const ask = siteApi({ root, signer, now: machine.now, warn: machine.say, ...describeMissing(site), ...options });
  return { root, ask, settings: site };
}

/**
 * The answer of an API of the site.
 *
 * @param place - that has answered, such as a URL
 * @throws TwtxtError `unreachable` for the answer of another server
 */
export function parseAnswer<T>(schema: v.GenericSchema<unknown, T>, json: unknown, place: string): T {
  const answer = v.safeParse(schema, json);
  if (answer.success) return answer.output;
  throw new TwtxtError(
    "unreachable",
    `${place} answers, but not as this command expects. Another server may answer there, or the site has another version: deploy the site.`,
  );
}

/** Advice if the site does not answer: it may be built on another machine, for another host. */
function describeMissing({ host, hasEndpoints }: HostSettings) {
  if (hasEndpoints) return {};
  const hosts = `host: "netlify", or host: "node" for \`${typed("serve")}\``;
  const missing = `It was built for the host "${host}" without endpoints. Give the plugin the option ${hosts}; build and deploy.`;
  return { missing };
}

/**
 * Reads a list of mentions page by page.
 *
 * @param read - returns a page of at most `limit`; `after` is the `next` of the page before, `null` for the first
 * @param most - how many to read; default: all
 */
export async function readPages<T>(
  read: (after: string | null, limit: number) => Promise<{ mentions: T[]; next: string | null }>,
  { perPage, most = Infinity }: { perPage: number; most?: number },
): Promise<T[]> {
  const all: T[] = [];
  for (let after: string | null = null; ; ) {
    const { mentions, next } = await read(after, Math.min(perPage, most - all.length));
    all.push(...mentions);
    // An empty page that has a next one would be asked for again without an end.
    if (next === null || all.length >= most || next === after) return all;
    after = next;
  }
}
