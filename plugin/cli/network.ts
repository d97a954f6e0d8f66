// plugin/cli/network.ts: how commands reach the servers of others.
import { type Ask, createGuard, type GuardOptions } from "../http/guard.js";
import { type Lookup, lookup } from "../messages/lookup/lookup.js";
import { systemSrv } from "../messages/lookup/public-lookup.js";
import { userAgent } from "./invocation.js";
import type { HostsValues } from "./options.js";

export interface Network {
  ask: Ask;
  /** Sends a request each time. */
  lookup: Lookup;
}

/** @param limits - instead of the guard's defaults */
export function networkOf(values: HostsValues, limits: Pick<GuardOptions, "totalMs"> = {}): Network {
  const plainHosts = values["allow-private-host"];
  const ask = createGuard({ userAgent: userAgent(), allowPrivateHosts: plainHosts, ...limits });
  return { ask, lookup: (address) => lookup(address, { ask, plainHosts, resolveSrv: systemSrv }) };
}
