// plugin/messages/saltpack/box.ts: NaCl's boxes.
import { hsalsa, xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { u32 } from "@noble/ciphers/utils.js";

/** "expand 32-byte k", the constant of Salsa20. */
const SIGMA = u32(new TextEncoder().encode("expand 32-byte k"));

/**
 * The key of `crypto_box`.
 *
 * @param shared - what X25519 gives both sides, 32 bytes
 * @returns 32 bytes, to be wiped by whoever asked
 */
export function boxKey(shared: Uint8Array): Uint8Array {
  const input = new Uint8Array(shared);
  const key = new Uint8Array(32);
  hsalsa(SIGMA, u32(input), new Uint32Array(4), u32(key));
  input.fill(0);
  return key;
}

/** `crypto_secretbox`: 16 bytes more than what is put in. */
export function closeBox(key: Uint8Array, nonce: Uint8Array, content: Uint8Array): Uint8Array {
  return xsalsa20poly1305(key, nonce).encrypt(content);
}

/** @returns `null` where the box was not closed with this key and nonce, or has changed since */
export function openBox(key: Uint8Array, nonce: Uint8Array, box: Uint8Array): Uint8Array | null {
  try {
    return xsalsa20poly1305(key, nonce).decrypt(box);
  } catch {
    return null;
  }
}
