// netlify/environment.ts: reads the environment of a function on Netlify, and creates the options of its services.
import { purgeCache } from "@netlify/functions";
import manifest from "../package.json" with { type: "json" };
import { remember } from "../plugin/groups.js";
import { openBucket } from "../plugin/host/bucket.js";
import { logText } from "../plugin/host/log-line.js";
import type { ServiceOptions } from "../plugin/host/service-options.js";
import { BackgroundWork, withTimeout } from "../plugin/host/work.js";
import { LOG_LENGTH, oneLine } from "../plugin/http/one-line.js";
import type { HostSettings, SitePages } from "../plugin/site/site.js";
import { withFormatCheck } from "../plugin/store/format.js";
import { NetlifyStore } from "../plugin/store/netlify.js";
import { isLoopback } from "../plugin/url.js";

/** Netlify's description of a function's deploy. */
export interface Deploy {
  /** `production` or the kind of preview; empty under `netlify dev`. */
  context: string;
  /** Whether visitors of the site see this deploy. */
  published?: boolean;
}

/** Where a function runs. A preview, which visitors do not see, sends nothing and stores what it receives separately. */
type Place = "production" | "preview" | "local";

/** The names of the stores. They differ because all deploys of a site share one Netlify Blobs. */
const STORES: Record<Place, string> = { production: "twtxt", preview: "twtxt-preview", local: "twtxt-local" };
/** Functions are billed by the second and end after a minute. */
const STREAMS = { isDefault: false, streamMs: 50_000, lookMs: 5000 };
const PURGE_TIMEOUT_MS = 3000;

/**
 * Creates a value from the options of a site, once for each place, and keeps it as long as the function's process lives.
 *
 * @param create - loads only what its function needs
 * @returns a function that returns the value for a deploy, and waits for the work that goes on after an answer
 */
export function byPlace<T>(settings: HostSettings, pages: SitePages, create: (options: ServiceOptions) => T) {
  const values = new Map<Place, T>();
  const work = new BackgroundWork();
  return (deploy: Deploy): { value: T; settled(): Promise<void> } => {
    const place = toPlace(deploy);
    const site = { settings, pages, background: work.add };
    const value = remember(values, place, () => create(toServiceOptions(place, site)));
    return { value, settled: () => work.settled() };
  };
}

/** Whether a function runs under `netlify dev`. */
export function isLocal(deploy: Deploy): boolean {
  return toPlace(deploy) === "local";
}

function toPlace({ context, published = false }: Deploy): Place {
  const { NETLIFY_DEV, NETLIFY_LOCAL } = process.env;
  if (context !== "production" && (NETLIFY_DEV === "true" || NETLIFY_LOCAL === "true")) return "local";
  return context === "production" || published ? "production" : "preview";
}

function toServiceOptions(
  place: Place,
  site: Pick<ServiceOptions, "settings" | "pages" | "background">,
): ServiceOptions {
  const { settings } = site;
  return {
    ...site,
    store:
      openBucket(process.env, `${STORES[place]}/`) ??
      withFormatCheck(new NetlifyStore({ name: STORES[place] }), "Netlify Blobs"),
    environment: place === "preview" ? {} : process.env,
    authority: chooseAuthority(place, settings),
    client: `${manifest.name}/${manifest.version}`,
    guard: { allowPrivateHosts: readPrivateHosts(place) },
    now: Date.now,
    log: (line, context) => console.error(logText(oneLine(line, LOG_LENGTH), context)),
    purge,
    isMetered: true,
    isLive: isLive(place, settings),
    streams: STREAMS,
  };
}

/** Purges a tag from Netlify's CDN. Under `netlify dev`, which has no CDN, `purgeCache` only logs this. */
function purge(tag: string): Promise<void> {
  return withTimeout(
    purgeCache({ tags: [tag] }),
    PURGE_TIMEOUT_MS,
    new Error(`no answer for ${PURGE_TIMEOUT_MS / 1000} s`),
  );
}

/**
 * Whether the site sends mentions. Under `netlify dev` only a site with a loopback address does: the mentions of a site
 * with a public address are sent by its production deploy.
 */
function isLive(place: Place, { feedUrl }: HostSettings): boolean {
  return place === "production" || (place === "local" && isLoopback(new URL(feedUrl).hostname));
}

/** Under `netlify dev`, the address of the local server in `URL`, unless the site was built for a loopback address. */
function chooseAuthority(place: Place, { url }: HostSettings): string {
  const isElsewhere = place === "local" && !isLoopback(new URL(url).hostname);
  return new URL((isElsewhere && process.env.URL) || url).host;
}

/** Private hosts that the guard allows, to try out two sites under `netlify dev`. */
function readPrivateHosts(place: Place): string[] {
  const { NETLIFY_DEV, TWTXT_ALLOW_PRIVATE_HOSTS = "" } = process.env;
  if (place !== "local" || NETLIFY_DEV !== "true") return [];
  return TWTXT_ALLOW_PRIVATE_HOSTS.split(/[\s,]+/).filter((host) => host !== "");
}
