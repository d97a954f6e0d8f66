// netlify/environment.ts: creates the services from the environment on Netlify.
import { purgeCache } from "@netlify/functions";
import manifest from "../package.json" with { type: "json" };
import { bucketIn } from "../plugin/host/bucket.js";
import type { ServiceOptions } from "../plugin/host/service-options.js";
import { secretsOf } from "../plugin/host/service-options.js";
import { BackgroundWork, withTimeout } from "../plugin/host/work.js";
import { isLoopback } from "../plugin/http/loopback.js";
import { LOG_LENGTH, oneLine } from "../plugin/http/one-line.js";
import type { HostSettings, SitePages } from "../plugin/site/site.js";
import { NetlifyStore } from "../plugin/store/netlify.js";

/** Netlify's description of a function's deploy. */
export interface Deploy {
  /** `production` or the kind of preview; empty under `netlify dev`. */
  context: string;
  /** Whether visitors of the site see this deploy. */
  published?: boolean;
}

/**
 * Where a function runs. A preview is a deploy that visitors of the site do not see: it keeps what it receives to itself
 * and tells nobody anything.
 */
type Place = "production" | "preview" | "local";

/** Their stores are apart, since all deploys of a site share their Blobs. */
const STORES: Record<Place, string> = { production: "twtxt", preview: "twtxt-preview", local: "twtxt-local" };
/** Functions are billed by the second and end after a minute. */
const STREAMS = { isDefault: false, streamMs: 50_000, lookMs: 5000 };
/** In which the CDN answers, or is asked once more. */
const PURGE_MS = 3000;

/** Kept as long as a function's process lives. */
interface Kept<Made> {
  made: Made;
  /** Fulfilled when the work has ended that goes on after an answer. */
  settled(): Promise<void>;
}

/**
 * Makes something from the options of a site at the first call, and keeps it as long as the function's process lives.
 *
 * @param make - loads no more than its function needs
 */
export function madeAt<Made>(
  settings: HostSettings,
  pages: SitePages,
  make: (options: ServiceOptions) => Made,
): (deploy: Deploy) => Kept<Made> {
  const kept = new Map<Place, Made>();
  const work = new BackgroundWork();
  return (deploy) => {
    const place = placeOf(deploy);
    const made = kept.get(place) ?? make(optionsIn(place, { settings, pages, background: work.add }));
    kept.set(place, made);
    return { made, settled: () => work.settled() };
  };
}

/** Whether it runs under `netlify dev`. */
export function isLocal(deploy: Deploy): boolean {
  return placeOf(deploy) === "local";
}

function placeOf({ context, published = false }: Deploy): Place {
  const { NETLIFY_DEV, NETLIFY_LOCAL } = process.env;
  if (context !== "production" && (NETLIFY_DEV === "true" || NETLIFY_LOCAL === "true")) return "local";
  return context === "production" || published ? "production" : "preview";
}

function optionsIn(place: Place, site: Pick<ServiceOptions, "settings" | "pages" | "background">): ServiceOptions {
  const { settings } = site;
  return {
    ...site,
    store: bucketIn(process.env, `${STORES[place]}/`) ?? new NetlifyStore({ name: STORES[place] }),
    secrets: secretsOf(place === "preview" ? {} : process.env),
    authority: authorityIn(place, settings),
    client: `${manifest.name}/${manifest.version}`,
    guard: { allowPrivateHosts: privateHostsIn(place) },
    fetch,
    now: Date.now,
    log: (line) => console.error(oneLine(line, LOG_LENGTH)),
    purge,
    isMetered: true,
    isLive: isLive(place, settings),
    streams: STREAMS,
  };
}

/** Purges a tag from Netlify's CDN. Under `netlify dev`, which has no CDN, `purgeCache` only logs this. */
function purge(tag: string): Promise<void> {
  return withTimeout(purgeCache({ tags: [tag] }), PURGE_MS, new Error(`no answer for ${PURGE_MS / 1000} s`));
}

/** On one's own machine, a site is tried out under an address of this machine: a real one has its mentions sent already. */
function isLive(place: Place, { feedUrl }: HostSettings): boolean {
  return place === "production" || (place === "local" && isLoopback(new URL(feedUrl).hostname));
}

/** `netlify dev` names its own address in `URL`. A site that is built for an address of this machine has a name there. */
function authorityIn(place: Place, { url }: HostSettings): string {
  const isNamed = place !== "local" || isLoopback(new URL(url).hostname);
  return new URL((!isNamed && process.env.URL) || url).host;
}

/** Of hosts in one's own network, for two blogs that are tried out under `netlify dev`. */
function privateHostsIn(place: Place): string[] {
  const { NETLIFY_DEV, TWTXT_ALLOW_PRIVATE_HOSTS = "" } = process.env;
  if (place !== "local" || NETLIFY_DEV !== "true") return [];
  return TWTXT_ALLOW_PRIVATE_HOSTS.split(/[\s,]+/).filter((host) => host !== "");
}
