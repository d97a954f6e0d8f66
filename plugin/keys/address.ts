// plugin/keys/address.ts: an address, `user@domain`, and where others look for its key.
import { sha256 } from "@noble/hashes/sha2.js";
import { hex } from "@scure/base";

/** What may stand before the `@`. See PROTOCOL 3.1. */
export const USER = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** A host as a URL has it, with a port where a site is tried out on one. */
const DOMAIN = /^(\[[0-9a-f:]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:\d+)?$/;
const MAX_DOMAIN = 253;
/** Of what somebody types or claims: to bring 40,000 characters to their ASCII form takes a quarter of a second. */
const MAX_TYPED = 1000;

/**
 * Reads an address.
 *
 * @returns `user@domain` in lower case, the domain in its ASCII form; `null` for what is no address
 * @see PROTOCOL 3.1
 * @example parseAddress("Alice@Bücher.example") // "alice@xn--bcher-kva.example"
 */
export function parseAddress(text: string): string | null {
  if (text.length > MAX_TYPED) return null;
  const [user = "", name = "", ...others] = text.toLowerCase().split("@");
  const url = `https://${name}`;
  if (others.length > 0 || !USER.test(user) || /[\s/\\?#%]/.test(name) || !URL.canParse(url)) return null;
  const { host } = new URL(url);
  return DOMAIN.test(host) && host.length <= MAX_DOMAIN ? `${user}@${host}` : null;
}

/**
 * The paths under which an address's document is looked for, under the specification's own segment and under the one that
 * peers know.
 *
 * @param address - `user@domain`, in lower case
 * @returns four paths from the root of the domain, in the order in which they are asked
 * @see PROTOCOL 3.1
 */
export function discoveryPaths(address: string): string[] {
  const user = address.slice(0, address.indexOf("@"));
  const hashed = hex.encode(sha256(new TextEncoder().encode(address)));
  return [`msg/${user}`, `msg/${hashed}`, `salty/${hashed}`, `salty/${user}`].map(
    (name) => `/.well-known/${name}.json`,
  );
}
