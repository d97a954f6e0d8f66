// plugin/browser/guest-key.ts: the key and the address of a reader.
import { encodeKey, type SecretKey, secretKey } from "../messages/browser.js";
import { noblePrimitives } from "../messages/saltpack/noble-primitives.js";

/** @param seed - 32 bytes */
export function keyOf(seed: Uint8Array): SecretKey {
  const { publicKey } = noblePrimitives.secretKey(seed);
  return secretKey(new Uint8Array([...seed, ...publicKey]));
}

/**
 * The address of a guest at the site of this author. PROTOCOL 3.5
 *
 * @param author - the author's address
 */
export function guestAddress({ publicKey }: Pick<SecretKey, "publicKey">, author: string): string {
  return `${encodeKey(publicKey)}${author.slice(author.indexOf("@"))}`;
}
