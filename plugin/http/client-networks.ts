// plugin/http/client-networks.ts: the networks in which a client's requests are counted.

/** How many senders share a limit: each may use a tenth of it. PROTOCOL 2.4, 3.3 */
export const SHARES = 10;
/**
 * The shares of an IPv6 /48. Providers give a customer a /64, a /56 or a /48 (RIPE-690), so one sender can have 65,536 /64s. Some
 * hosts put many customers into one /48, so it has more than one share.
 */
export const WIDE_SHARES = 3;

/** A network, and how many senders' shares of a limit its clients may use together. */
export interface ClientNetwork {
  network: string;
  shares: number;
}

/**
 * @param address - as `clientKey` of host/client-key.ts returns it
 * @returns the narrowest first: the address itself, and the /48 of an IPv6 one
 */
export function listNetworks(address: string): ClientNetwork[] {
  const groups = address.split(":");
  const narrow = { network: address, shares: 1 };
  if (groups.length < 4) return [narrow];
  return [narrow, { network: `${groups.slice(0, 3).join(":")}/48`, shares: WIDE_SHARES }];
}
