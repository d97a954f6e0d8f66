// plugin/messages/lookup/public-lookup.ts: address lookup with default settings, for the public API.
import type { Found } from "./lookup.js";

const USER_AGENT = "eleventy-plugin-twtxt";
/** For each of two tries per DNS server. */
const DNS_TIMEOUT_MS = 2000;

/**
 * Looks up an address with the guard and the system's DNS, both loaded on first use.
 *
 * @param address - `user@domain`, in any case
 * @throws TwtxtError `bad-address`, `no-such-address`, `unreachable`
 * @see PROTOCOL 3.1
 * @example const { key, endpoint } = await lookup("bob@bob.example");
 */
export async function lookup(address: string): Promise<Found> {
  const [{ createGuard }, { lookup: lookupBy }] = await Promise.all([
    import("../../http/guard.js"),
    import("./lookup.js"),
  ]);
  return lookupBy(address, { ask: createGuard({ userAgent: USER_AGENT }), resolveSrv: systemSrv });
}

/**
 * Resolves the targets of a SRV record, by priority.
 *
 * @param servers - DNS servers, `address:port`; default the system's
 * @throws what node:dns throws, with a `code`
 */
export async function systemSrv(name: string, servers?: readonly string[]): Promise<{ name: string }[]> {
  const { Resolver } = await import("node:dns/promises");
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 });
  if (servers) resolver.setServers(servers);
  const records = await resolver.resolveSrv(name);
  return records.sort((a, b) => a.priority - b.priority || b.weight - a.weight);
}
