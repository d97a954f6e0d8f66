// plugin/host/client-key.ts: identifies a client by its address.
import ipaddr from "ipaddr.js";

/**
 * The part of an address that identifies a client to the rate limit.
 *
 * @param address - as the host reports it, possibly with a port: `192.0.2.1:1234`, `[2001:db8::1]:1234`
 * @returns an IPv4 address, or the first 64 bits of an IPv6 one, because an IPv6 client usually controls its whole /64;
 *   `unknown` for an invalid address
 * @see PROTOCOL 6
 */
export function clientKey(address: string): string {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return address;
  const bare = withoutPort(address.trim());
  if (!ipaddr.isValid(bare)) return "unknown";
  const parsed = ipaddr.process(bare);
  return parsed instanceof ipaddr.IPv4 ? parsed.toString() : parsed.parts.slice(0, 4).join(":");
}

function withoutPort(address: string): string {
  return address.replace(/^\[(.*)\](:\d+)?$/, "$1").replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1");
}
