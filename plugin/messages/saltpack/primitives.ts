// plugin/messages/saltpack/primitives.ts: what sealing and opening need of a runtime, node:crypto or a library.
import type { SecretKey } from "../../keys/key.js";
import type { Boxes } from "./box.js";

export type { SecretKey };

/** The secret half of an X25519 key, made for one message. */
export interface EphemeralKey {
  /** The 32 bytes of its X25519 public key. */
  readonly publicKey: Uint8Array;
  /** As {@link SecretKey.agree}. */
  agree(exchangeKey: Uint8Array): Uint8Array;
}

/** The arithmetic that runtimes have at different speeds. */
export interface Primitives {
  /** @returns 64 bytes */
  sha512(bytes: Uint8Array): Uint8Array;
  /** @returns 64 bytes */
  hmacSha512(key: Uint8Array, bytes: Uint8Array): Uint8Array;
  /**
   * Verifies an Ed25519 signature without cofactor: S is below the group's order, and S·B - k·A has the very bytes of R.
   *
   * @param publicKey - the caller has checked `isWeakKey`
   * @returns `false` also for a key that is not a point of the curve
   */
  verify(signature: Uint8Array, bytes: Uint8Array, publicKey: Uint8Array): boolean;
  /** @param secret - 32 random bytes, to be wiped by whoever asked when the key is needed no more */
  ephemeralKey(secret: Uint8Array): EphemeralKey;
  /**
   * Prepares a key for signing and for opening.
   *
   * @param seed - 32 bytes
   */
  secretKey(seed: Uint8Array): SecretKey;
  readonly boxes: Boxes;
}

/** @returns that many random bytes, in an array of their own */
export type Random = (count: number) => Uint8Array;
