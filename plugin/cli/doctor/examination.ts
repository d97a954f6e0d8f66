// plugin/cli/doctor/examination.ts: what the doctor looks at, one thing after the other.
import { isSameUrl } from "../../http/same-url.js";
import { parseAddress } from "../../keys/address.js";
import { checkAddress } from "./address.js";
import { checkArchives } from "./archives.js";
import { checkEndpoint, checkRateLimit, notTried } from "./endpoint.js";
import { checkNames, endpointOf } from "./endpoint-names.js";
import { checkServing } from "./feed-serving.js";
import { checkText } from "./feed-text.js";
import { checkOwnUrl, findFeed, type SeenFeed } from "./find-feed.js";
import type { Finding } from "./finding.js";
import type { Look } from "./look.js";
import { checkMentionLists, listsBeside } from "./mention-lists.js";
import type { OwnSite } from "./own-site.js";

const NO_ENDPOINT = { findings: [], isOurs: false };

/** What is looked at, and by whom. */
export interface Visit {
  look: Look;
  /** Milliseconds since 1970. */
  now: number;
  own: OwnSite | null;
  /** The address that was asked for; `null` for that of the feed's author. */
  address: string | null;
  isFlood: boolean;
}

/**
 * Looks at a site as its peers do. The rate limit comes last, since nothing else is let in after it.
 *
 * @param url - of a feed, a page or a site
 */
export async function* examination(url: string, visit: Visit): AsyncIterable<Finding> {
  const { look, now, own } = visit;
  const { feed, findings } = await findFeed(url, look);
  yield* findings;
  if (!feed) return;

  const site = own && isSameUrl(own.feedUrl, feed.url) ? own : null;
  yield* await checkServing(feed, look, now);
  yield* await checkOwnUrl(feed, look);
  yield* checkText(feed, now);
  yield* await checkArchives(feed, look);
  yield* checkNames(feed);

  const endpoint = endpointOf(feed);
  const { findings: ofEndpoint, isOurs } = endpoint ? await checkEndpoint(endpoint, look) : NO_ENDPOINT;
  yield* ofEndpoint;
  if (endpoint && isOurs) yield* await checkMentionLists(site?.urls ?? listsBeside(endpoint), look);
  yield* await checkAddressOf(feed, site, visit);
  if (endpoint) yield await limitOf(endpoint, feed, visit.isFlood || site !== null, look);
}

async function checkAddressOf(feed: SeenFeed, site: OwnSite | null, { address, look }: Visit): Promise<Finding[]> {
  const { host, origin } = new URL(feed.url);
  const known = address ?? site?.address ?? parseAddress(`${feed.header.nick?.[0] ?? ""}@${host}`);
  if (known === null) return [];
  const domain = known.slice(known.indexOf("@") + 1);
  return checkAddress(
    { address: known, origin: domain === host ? origin : `https://${domain}`, isExpected: known === site?.address },
    look,
  );
}

/** Nobody's endpoint is flooded but one's own: not that of a service, and not any that a feed may name. */
async function limitOf(endpoint: string, feed: SeenFeed, isOwn: boolean, look: Look): Promise<Finding> {
  if (!isOwn) return notTried("Is it your own site? Then add --flood, or look from the folder of its sources.");
  if (new URL(endpoint).host === new URL(feed.url).host) return checkRateLimit(endpoint, look);
  return notTried("The endpoint is on another host than the feed.");
}
