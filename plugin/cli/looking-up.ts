// plugin/cli/looking-up.ts: how the commands find the keys and inboxes of others.
import { type Ask, createGuard, type GuardOptions } from "../http/guard.js";
import { type Lookup, lookup } from "../messages/lookup/lookup.js";
import { systemSrv } from "../messages/lookup/public-lookup.js";
import { allowedHosts } from "./allowed-hosts.js";
import { version } from "./version.js";

/** The option of all these commands, for `readArguments`. */
export const HOSTS_OPTION = { "allow-private-host": { type: "string", multiple: true } } as const;

/** The way to the servers of others. */
export interface Network {
  ask: Ask;
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
  const ask = createGuard({
    userAgent: `eleventy-plugin-twtxt/${version()}`,
    allowPrivateHosts: plainHosts,
    ...limits,
  });
  return { ask, lookup: (address) => lookup(address, { ask, plainHosts, resolveSrv: systemSrv }) };
}
