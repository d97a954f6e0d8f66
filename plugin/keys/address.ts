// plugin/keys/address.ts: an address, `user@domain`, and where others look for its key.
import { createHash } from "node:crypto";

/** The path segments of discovery: the specification's own, and the one that peers know. */
const SEGMENTS = ["msg", "salty"] as const;

/** What may stand before the `@`. See PROTOCOL 3.1. */
export const USER = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** A host as a URL has it, with a port where a site is tried out on one. */
const DOMAIN = /^(\[[0-9a-f:]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:\d+)?$/;
const MAX_DOMAIN = 253;

/**
 * Reads an address.
 *
 * @returns `user@domain` in lower case, the domain in its ASCII form; `null` for what is no address
 * @see PROTOCOL 3.1
 * @example parseAddress("Alice@Bücher.example") // "alice@xn--bcher-kva.example"
 */
export function parseAddress(text: string): string | null {
  const [user = "", name = "", ...others] = text.toLowerCase().split("@");
  const url = `https://${name}`;
  if (others.length > 0 || !USER.test(user) || /[\s/\\?#%]/.test(name) || !URL.canParse(url)) return null;
  const { host } = new URL(url);
  return DOMAIN.test(host) && host.length <= MAX_DOMAIN ? `${user}@${host}` : null;
}

/**
 * The paths under which an address's document is looked for.
 *
 * @param address - `user@domain`, in lower case
 * @returns four paths from the root of the domain: plain and hashed name under both segments
 * @see PROTOCOL 3.1
 */
export function discoveryPaths(address: string): string[] {
  const user = address.slice(0, address.indexOf("@"));
  const hashed = createHash("sha256").update(address).digest("hex");
  return SEGMENTS.flatMap((segment) => [user, hashed].map((name) => `/.well-known/${segment}/${name}.json`));
}
