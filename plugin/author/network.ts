// plugin/author/network.ts: how this machine reaches the servers of others.
import { createGuard, type GuardOptions } from "../http/guard.js";
import { PrivateAddressError } from "../http/public-address.js";
import { type Lookup, lookup as lookUp, systemSrv } from "../messages/lookup/lookup.js";
import { canParseUrl, findLoopbackHost, isLoopback } from "../url.js";
import { userAgent } from "./invocation.js";
import type { HostChoice, OwnSiteChoice } from "./machine.js";
import type { Site } from "./site.js";

/** @param options - of the guard. @returns `lookup` sends a request each time */
export function createNetwork(choice: HostChoice, options: Pick<GuardOptions, "totalMs" | "ownUrl"> = {}) {
  const plainHosts = choice["allow-private-host"];
  const ask = createGuard({ userAgent: userAgent(), allowPrivateHosts: plainHosts, ...options });
  const lookup: Lookup = (address) => lookUp(address, { ask, plainHosts, resolveSrv: systemSrv });
  return { ask, lookup };
}

/** The `host:port` that an error names as private; empty if it names none. */
export function readPrivateHosts(error: unknown): string[] {
  return error instanceof PrivateAddressError ? [error.host] : [];
}

/** Advice for addresses that the guard refused. @param hosts - `host:port`, if they are known */
export function privateHostAdvice(hosts: readonly string[]): string {
  const added = (hosts.length > 0 ? hosts : ["HOST:PORT"]).map((host) => `--allow-private-host ${host}`).join(" ");
  return `Only public servers are contacted. To allow one in your own network, add ${added}`;
}

/** A URL of the author's own site, at the origin that the author has chosen to reach it. */
export function ownUrl(url: string, { url: chosen }: Pick<OwnSiteChoice, "url">): string {
  const { pathname, search, origin } = new URL(url);
  return (chosen === undefined ? origin : new URL(chosen).origin) + pathname + search;
}

/**
 * The author's choice. A site on loopback is a trial, so its commands may also contact other hosts on this machine.
 *
 * @param urls - the URLs to contact
 */
export function addLoopbackHosts({ settings }: Site, choice: HostChoice, urls: readonly string[]): HostChoice {
  const isTrial = isLoopback(new URL(settings.url).hostname);
  const own = isTrial ? urls.filter((url) => canParseUrl(url)).flatMap(findLoopbackHost) : [];
  return { "allow-private-host": [...choice["allow-private-host"], ...own] };
}
