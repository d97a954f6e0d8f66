// plugin/messages/index.ts: the public API of messages, `eleventy-plugin-twtxt/messages`.
import type { Found } from "./lookup/lookup.js";

export type { TwtxtErrorCode } from "../errors.js";
export { TwtxtError } from "../errors.js";
export type { SecretKey } from "../keys/key.js";
export { formatKey as encodeKey, parseKey as decodeKey } from "../keys/key.js";
export type { Found } from "./lookup/lookup.js";
export type { Message, MessageEvent, MessageLine, NewMessage } from "./plaintext.js";
export { formatMessage, parseMessage } from "./plaintext.js";
export { armor, dearmor } from "./saltpack/armor.js";
export type { SealOptions } from "./saltpack/saltpack.js";
export type { Opened } from "./saltpack/signcryption.js";
export { open, seal, secretKey } from "./sealing.js";

/**
 * Looks up an address with the guard and the system's DNS, both loaded on first use.
 *
 * @param address - `user@domain`, in any case
 * @throws TwtxtError `bad-address`, `no-such-address`, `unreachable`
 * @see PROTOCOL 3.1
 * @example const { key, endpoint } = await lookup("bob@bob.example");
 */
export async function lookup(address: string): Promise<Found> {
  const [{ createGuard }, { lookup: lookupBy, systemSrv }] = await Promise.all([
    import("../http/guard.js"),
    import("./lookup/lookup.js"),
  ]);
  return lookupBy(address, { ask: createGuard({ userAgent: "eleventy-plugin-twtxt" }), resolveSrv: systemSrv });
}
