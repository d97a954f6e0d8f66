// plugin/keys/guest.ts: guests, readers of a site without an address of their own. PROTOCOL 3.5
import { readDomain } from "./address.js";
import { isKeyText } from "./key.js";

/** Characters of a key in its short form: `kex1`, three more, and the last two. */
const START = 7;
const END = 2;

/**
 * The public key of a guest. The address of a guest is the key, `@` and the domain of the site, so nothing is registered.
 *
 * @param address - `user@domain` in lower case
 * @returns `kex1...`; `null` for an address that is not a guest's
 */
export function readGuestKey(address: string): string | null {
  const user = address.slice(0, address.indexOf("@"));
  return isKeyText(user) ? user : null;
}

/** Whether an address is that of a guest, at the same site as another address. */
export function isGuestAtSameSite(guest: string, address: string): boolean {
  return readGuestKey(guest) !== null && readDomain(guest) === readDomain(address);
}

/** @example shortKey("kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg") // "kex1syu…cg" */
export function shortKey(key: string): string {
  return `${key.slice(0, START)}…${key.slice(-END)}`;
}
