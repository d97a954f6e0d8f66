// plugin/http/public-address.ts: public and private IP addresses.
import ipaddr from "ipaddr.js";

/** Prefixes of IPv6 addresses that embed an IPv4 address, and its offset in the 16 bytes. */
const WRAPPERS: { range: [ipaddr.IPv6, number]; at: number; isInverted?: true }[] = [
  { range: ipaddr.IPv6.parseCIDR("::ffff:0:0/96"), at: 12 }, // IPv4-mapped
  { range: ipaddr.IPv6.parseCIDR("::/96"), at: 12 }, // IPv4-compatible
  { range: ipaddr.IPv6.parseCIDR("64:ff9b::/96"), at: 12 }, // NAT64
  { range: ipaddr.IPv6.parseCIDR("2002::/16"), at: 2 }, // 6to4
  { range: ipaddr.IPv6.parseCIDR("2001::/32"), at: 12, isInverted: true }, // Teredo
];

/**
 * Whether an address, or the IPv4 address embedded in it, is public unicast.
 *
 * @param address - IPv4 or IPv6 without brackets; anything else is not public
 * @see PROTOCOL 6
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === "unicast";

  const wrapper = WRAPPERS.find(({ range }) => parsed.match(range));
  if (!wrapper) return parsed.range() === "unicast";
  const inner = parsed.toByteArray().slice(wrapper.at, wrapper.at + 4);
  return isPublicAddress(inner.map((byte) => (wrapper.isInverted ? byte ^ 0xff : byte)).join("."));
}
