// plugin/messages/saltpack/noble-primitives.ts: the primitives in JavaScript, for browsers and other runtimes.
import { ed25519, x25519 } from "@noble/curves/ed25519.js";
import { bytesToNumberLE, equalBytes } from "@noble/curves/utils.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { TwtxtError } from "../../errors.js";
import { nobleBoxes, type Primitives } from "./primitives.js";

const { Point } = ed25519;

export const noblePrimitives: Primitives = {
  sha512,
  hmacSha512: (key, bytes) => hmac(sha512, key, bytes),
  verify,
  ephemeralKey: (secret) => ({
    publicKey: x25519.getPublicKey(secret),
    agree: (exchangeKey) => agree(secret, exchangeKey),
  }),
  secretKey: (seed) => {
    const own = new Uint8Array(seed);
    return {
      publicKey: ed25519.getPublicKey(own),
      sign: (bytes) => ed25519.sign(bytes, own),
      agree: (exchangeKey) => {
        const secret = ed25519.utils.toMontgomerySecret(own);
        try {
          return agree(secret, exchangeKey);
        } finally {
          secret.fill(0);
        }
      },
    };
  },
  boxes: nobleBoxes,
};

/** Not the library's `verify`, which multiplies by the cofactor: it accepts an R of mixed order, which others reject. */
function verify(signature: Uint8Array, bytes: Uint8Array, publicKey: Uint8Array): boolean {
  const r = signature.subarray(0, 32);
  const s = bytesToNumberLE(signature.subarray(32));
  if (s >= Point.Fn.ORDER) return false;
  const k = Point.Fn.create(bytesToNumberLE(sha512(concatBytes(r, publicKey, bytes))));
  const sender = pointOf(publicKey);
  if (sender === null) return false;
  const expected = Point.BASE.multiplyUnsafe(s).subtract(sender.multiplyUnsafe(k));
  return equalBytes(expected.toBytes(), r);
}

function pointOf(publicKey: Uint8Array): InstanceType<typeof Point> | null {
  try {
    return Point.fromBytes(publicKey);
  } catch {
    return null;
  }
}

function agree(secret: Uint8Array, exchangeKey: Uint8Array): Uint8Array {
  try {
    return x25519.getSharedSecret(secret, exchangeKey);
  } catch (cause) {
    throw new TwtxtError("bad-key", "This key cannot be used for a key exchange: it is of small order.", { cause });
  }
}
