// plugin/http/public-address.ts: public and private IP addresses.
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { TwtxtError } from "../errors.js";

/** IPv6 prefixes of addresses that embed an IPv4 address, with its offset in the 16 bytes. */
const EMBEDDINGS: { prefix: string; offset: number; isInverted?: true }[] = [
  { prefix: "::ffff:0:0/96", offset: 12 }, // IPv4-mapped
  { prefix: "::/96", offset: 12 }, // IPv4-compatible
  { prefix: "64:ff9b::/96", offset: 12 }, // NAT64
  { prefix: "2002::/16", offset: 2 }, // 6to4
  { prefix: "2001::/32", offset: 12, isInverted: true }, // Teredo
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

  const embedding = EMBEDDINGS.find(({ prefix }) => parsed.match(ipaddr.IPv6.parseCIDR(prefix)));
  if (!embedding) return parsed.range() === "unicast";
  const { offset, isInverted } = embedding;
  const embedded = parsed.toByteArray().slice(offset, offset + 4);
  return isPublicAddress(embedded.map((byte) => (isInverted ? byte ^ 0xff : byte)).join("."));
}

/** Names that only a local network has. RFC 6761, 6762 and 8375, and what routers use */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|lan|home|home\.arpa|invalid|test)$/;

/** Whether a host, as in a URL, may be public: neither a private address nor a name of a local network. Looks nothing up. */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, "");
  if (isIP(host) !== 0) return isPublicAddress(host);
  return host.includes(".") && !LOCAL_NAME.test(host);
}

/** An `address-refused` for an address in a private network. */
export class PrivateAddressError extends TwtxtError {
  /** @param host - `host:port` */
  constructor(
    message: string,
    readonly host: string,
  ) {
    super("address-refused", message);
  }
}
