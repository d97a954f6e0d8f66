// plugin/messages/saltpack/box.ts: NaCl's secret boxes (XSalsa20-Poly1305) in plain JavaScript, and the key of its boxes.
import { hsalsa, xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { u32, utf8ToBytes } from "@noble/ciphers/utils.js";

/** Secret boxes: `crypto_secretbox` in NaCl. */
export interface Boxes {
  /** @returns 16 bytes that authenticate the content, then the encrypted content */
  close(key: Uint8Array, nonce: Uint8Array, content: Uint8Array): Uint8Array;
  /** @returns `null` if the box was not closed with this key and nonce, or was changed since */
  open(key: Uint8Array, nonce: Uint8Array, box: Uint8Array): Uint8Array | null;
}

/** "expand 32-byte k", the constant of Salsa20. */
export const SIGMA = u32(utf8ToBytes("expand 32-byte k"));
const NO_NONCE = new Uint8Array(16);

export const nobleBoxes: Boxes = {
  close: (key, nonce, content) => xsalsa20poly1305(key, nonce).encrypt(content),
  open: (key, nonce, box) => {
    try {
      return xsalsa20poly1305(key, nonce).decrypt(box);
    } catch {
      return null;
    }
  },
};

/**
 * The key of `crypto_box`.
 *
 * @param shared - the result of X25519, 32 bytes
 * @returns 32 bytes, which the caller wipes
 */
export function boxKey(shared: Uint8Array): Uint8Array {
  return subkeyOf(shared, NO_NONCE);
}

/**
 * HSalsa20: the key under which XSalsa20 runs Salsa20.
 *
 * @param nonce - 16 bytes
 * @returns 32 bytes, which the caller wipes
 */
export function subkeyOf(key: Uint8Array, nonce: Uint8Array): Uint8Array {
  const input = new Uint8Array(key);
  const subkey = new Uint8Array(32);
  hsalsa(SIGMA, u32(input), u32(new Uint8Array(nonce)), u32(subkey));
  input.fill(0);
  return subkey;
}
