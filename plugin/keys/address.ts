// plugin/keys/address.ts: addresses, `user@domain`, and the paths of their discovery documents.
import { sha256 } from "@noble/hashes/sha2.js";
import { hex } from "@scure/base";
import { canParseUrl } from "../url.js";

/** The part before the `@`. PROTOCOL 3.1 */
export const USER = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** A host as in a URL, with an optional port for local sites. */
const DOMAIN = /^(\[[0-9a-f:]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:\d+)?$/;
const MAX_DOMAIN = 253;
/** Limits untrusted input: converting a domain of 40,000 characters to ASCII takes a quarter of a second. */
const MAX_TYPED = 1000;

/**
 * Parses an address.
 *
 * @returns `user@domain` in lower case with the domain in ASCII; `null` for an invalid address
 * @see PROTOCOL 3.1
 * @example parseAddress("Alice@Bücher.example") // "alice@xn--bcher-kva.example"
 */
export function parseAddress(text: string): string | null {
  if (text.length > MAX_TYPED) return null;
  const [user = "", name = "", ...others] = text.toLowerCase().split("@");
  const url = `https://${name}`;
  if (others.length > 0 || !USER.test(user) || /[\s/\\?#%]/.test(name) || !canParseUrl(url)) return null;
  const { host } = new URL(url);
  return DOMAIN.test(host) && host.length <= MAX_DOMAIN ? `${user}@${host}` : null;
}

/** The part after the `@`. @param address - `user@domain` */
export function readDomain(address: string): string {
  return address.slice(address.indexOf("@") + 1);
}

/** The SHA-256 of an address in hex, where an address is not a valid name. @param address - in lower case */
export function addressHash(address: string): string {
  return hex.encode(sha256(new TextEncoder().encode(address)));
}

/**
 * The paths of an address's discovery document: in the folder of the specification, and in that of current peers.
 *
 * @param address - `user@domain` in lower case
 * @returns four paths from the root of the domain, in the order of the requests
 * @see PROTOCOL 3.1
 */
export function discoveryPaths(address: string): string[] {
  const user = address.slice(0, address.indexOf("@"));
  const hashed = addressHash(address);
  return [`msg/${user}`, `msg/${hashed}`, `salty/${hashed}`, `salty/${user}`].map(
    (name) => `/.well-known/${name}.json`,
  );
}
