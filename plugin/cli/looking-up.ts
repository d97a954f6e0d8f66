// plugin/cli/looking-up.ts: how the commands find the keys and inboxes of others.
import { type GuardedFetch, type GuardOptions, guardedFetch } from "../http/guarded-fetch.js";
import { type Lookup, lookup } from "../messages/lookup/lookup.js";
import { systemSrv } from "../messages/lookup/public-lookup.js";
import { allowedHosts } from "./allowed-hosts.js";
import { version } from "./version.js";

/** The option of all these commands, for `readArguments`. */
export const HOSTS_OPTION = { "allow-private-host": { type: "string", multiple: true } } as const;

/** The way to the servers of others. */
export interface Network {
  fetch: GuardedFetch;
  /** Asks anew each time. */
  lookup: Lookup;
}

/**
 * @param values - of the command line
 * @param limits - other than the usual ones of the guard
 * @throws TwtxtError `bad-usage`
 */
export function networkOf(
  values: { "allow-private-host"?: string[] | undefined },
  command: string,
  limits: Pick<GuardOptions, "totalMs"> = {},
): Network {
  const plainHosts = allowedHosts(values["allow-private-host"], command);
  const fetch = guardedFetch({
    userAgent: `eleventy-plugin-twtxt/${version()}`,
    allowPrivateHosts: plainHosts,
    ...limits,
  });
  return { fetch, lookup: (address) => lookup(address, { fetch, plainHosts, resolveSrv: systemSrv }) };
}
