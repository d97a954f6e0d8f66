// plugin/messages/saltpack/primitives.ts: the cryptographic primitives of a runtime, and secret boxes in JavaScript.
import { hsalsa, xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { u32, utf8ToBytes } from "@noble/ciphers/utils.js";
import type { SecretKey } from "../../keys/key.js";

/** An X25519 private key for one message. */
export interface EphemeralKey {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** As {@link SecretKey.agree}. */
  agree(exchangeKey: Uint8Array): Uint8Array;
}

/** NaCl's `crypto_secretbox`, XSalsa20-Poly1305. */
export interface Boxes {
  /** @returns a tag of 16 bytes, then the encrypted content */
  close(key: Uint8Array, nonce: Uint8Array, content: Uint8Array): Uint8Array;
  /** @returns `null` for another key or nonce, and for a modified box */
  open(key: Uint8Array, nonce: Uint8Array, box: Uint8Array): Uint8Array | null;
}

/** The primitives that runtimes implement differently. */
export interface Primitives {
  /** @returns 64 bytes */
  sha512(bytes: Uint8Array): Uint8Array;
  /** @returns 64 bytes */
  hmacSha512(key: Uint8Array, bytes: Uint8Array): Uint8Array;
  /**
   * Verifies an Ed25519 signature without cofactor: S is below the group's order, and S·B - k·A encodes to the bytes of R.
   *
   * @param publicKey - the caller has checked `isWeakKey`
   * @returns `false` also for a key that is not a point of the curve
   */
  verify(signature: Uint8Array, bytes: Uint8Array, publicKey: Uint8Array): boolean;
  /** @param secret - 32 random bytes; the caller must wipe them after using the key */
  ephemeralKey(secret: Uint8Array): EphemeralKey;
  /** @param seed - 32 bytes; may be wiped afterwards */
  secretKey(seed: Uint8Array): SecretKey;
  readonly boxes: Boxes;
}

/** @returns that many random bytes, in a new array */
export type Random = (count: number) => Uint8Array;

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

/** The constant of Salsa20. */
export const SIGMA = u32(utf8ToBytes("expand 32-byte k"));

/**
 * HSalsa20, which derives the key of Salsa20 in XSalsa20, and the key of NaCl's `crypto_box`.
 *
 * @param key - 32 bytes
 * @param nonce - 16 bytes
 * @returns 32 bytes; the caller must wipe them
 */
export function hsalsa20(key: Uint8Array, nonce: Uint8Array): Uint8Array {
  const input = new Uint8Array(key);
  const subkey = new Uint8Array(32);
  hsalsa(SIGMA, u32(input), u32(new Uint8Array(nonce)), u32(subkey));
  input.fill(0);
  return subkey;
}
