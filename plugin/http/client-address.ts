// plugin/http/client-address.ts: an address as something that is counted.
import ipaddr from "ipaddr.js";

/**
 * What all requests of one asker have in common.
 *
 * @param address - as a host names it; some proxies name the port too: `192.0.2.1:1234`, `[2001:db8::1]:1234`
 * @returns an IPv4 address; of IPv6 the first 64 bits, since whoever has one address has the 2^64 beside it; `unknown` for
 *   what is no address
 * @see PROTOCOL 6
 */
export function clientKey(address: string): string {
  const bare = withoutPort(address.trim());
  if (!ipaddr.isValid(bare)) return "unknown";
  const parsed = ipaddr.process(bare);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return parsed.parts.slice(0, 4).join(":");
}

function withoutPort(address: string): string {
  return address.replace(/^\[(.*)\](:\d+)?$/, "$1").replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1");
}
