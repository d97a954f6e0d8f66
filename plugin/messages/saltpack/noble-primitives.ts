// plugin/messages/saltpack/noble-primitives.ts: the primitives in JavaScript, for browsers and other runtimes.
import { pow } from "@noble/curves/abstract/modular.js";
import { montgomery } from "@noble/curves/abstract/montgomery.js";
import { bytesToNumberLE, equalBytes } from "@noble/curves/utils.js";
import { getPublicKey, hashes, Point, sign } from "@noble/ed25519";
import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { TwtxtError } from "../../errors.js";
import { nobleBoxes, type Primitives } from "./primitives.js";

hashes.sha512 = sha512;

const { p: PRIME, n: ORDER } = Point.CURVE();

/** X25519 without the Edwards curve of `@noble/curves`, a third of the size in a browser. RFC 7748, section 5 */
const x25519 = montgomery({
  P: PRIME,
  type: "x25519",
  adjustScalarBytes: (bytes: Uint8Array) => {
    bytes[0] = (bytes[0] ?? 0) & 248;
    bytes[31] = ((bytes[31] ?? 0) & 127) | 64;
    return bytes;
  },
  powPminus2: (x) => pow(x, PRIME - 2n, PRIME),
});

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
      publicKey: getPublicKey(own),
      sign: (bytes) => sign(bytes, own),
      agree: (exchangeKey) => {
        // The scalar is half of the seed's hash, as in a signature; X25519 clamps it.
        const hash = sha512(own);
        try {
          return agree(hash.subarray(0, 32), exchangeKey);
        } finally {
          hash.fill(0);
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
  if (s >= ORDER) return false;
  const k = bytesToNumberLE(sha512(concatBytes(r, publicKey, bytes))) % ORDER;
  const sender = toPoint(publicKey);
  if (sender === null) return false;
  const expected = Point.BASE.multiplyUnsafe(s).subtract(sender.multiplyUnsafe(k));
  return equalBytes(expected.toBytes(), r);
}

function toPoint(publicKey: Uint8Array): Point | null {
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
