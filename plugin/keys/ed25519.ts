// plugin/keys/ed25519.ts: Ed25519 signatures and X25519 key exchange with node:crypto, ten times as fast as JavaScript.
import { createPrivateKey, createPublicKey, diffieHellman, hash, type KeyObject, sign, verify } from "node:crypto";
import { promisify } from "node:util";
import { TwtxtError } from "../errors.js";
import type { SecretKey } from "./key.js";

/** The prefix of a 32-byte private key in PKCS #8. RFC 8410, section 7 */
const ED25519_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
const X25519_HEAD = Buffer.from("302e020100300506032b656e04220420", "hex");
const KEY_BYTES = 32;
const verifyAsync = promisify(verify);

/** Imports a private key. This takes longer than using it once. @param seed - 32 bytes; may be wiped afterwards */
export function toSecretKey(seed: Uint8Array): SecretKey {
  const signing = importKey(ED25519_HEAD, seed);
  let agreeing: KeyObject | undefined;
  return {
    publicKey: publicBytes(signing),
    sign: (bytes) => sign(null, bytes, signing),
    agree: (exchangeKey) => {
      agreeing ??= exchangeHalf(signing);
      return agree(agreeing, exchangeKey);
    },
  };
}

/**
 * Imports a public key, for one signature or for many.
 *
 * @param publicKey - 32 bytes; the caller has checked `isWeakKey`
 */
export function toVerifyingKey(publicKey: Uint8Array): KeyObject {
  const x = Buffer.from(publicKey).toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}

/**
 * Whether this key signed these bytes. OpenSSL compares the bytes of R, without cofactor, and refuses an S beyond the
 * group's order, so signatures are not malleable.
 */
export function isSignedBy(verifyingKey: KeyObject, bytes: Uint8Array, signature: Uint8Array): boolean {
  return verify(null, bytes, verifyingKey, signature);
}

/** As {@link isSignedBy}, on a thread of Node.js's pool: meanwhile, a server works on other requests. */
export function verifyOffThread(verifyingKey: KeyObject, bytes: Uint8Array, signature: Uint8Array): Promise<boolean> {
  return verifyAsync(null, bytes, verifyingKey, signature);
}

/**
 * X25519.
 *
 * @param exchangeKey - the other side's public key, 32 bytes
 * @throws TwtxtError `bad-key` as `SecretKey.agree`
 */
export function agree(privateKey: KeyObject, exchangeKey: Uint8Array): Uint8Array {
  try {
    // OpenSSL 3 imports a JWK 15 times as fast as DER.
    const x = Buffer.from(exchangeKey).toString("base64url");
    const publicKey = createPublicKey({ key: { kty: "OKP", crv: "X25519", x }, format: "jwk" });
    return diffieHellman({ privateKey, publicKey });
  } catch (cause) {
    throw new TwtxtError("bad-key", "The public key is of small order, so it cannot be used for a key exchange.", {
      cause,
    });
  }
}

/** The raw public key of 32 bytes. */
export function publicBytes(privateKey: KeyObject): Uint8Array {
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  return Uint8Array.from(Buffer.from(x, "base64url"));
}

/** The scalar is half of the seed's hash, here as in a signature; the library clamps it. See RFC 7748, section 5. */
function exchangeHalf(signing: KeyObject): KeyObject {
  const der = signing.export({ format: "der", type: "pkcs8" });
  const digest = hash("sha512", der.subarray(-KEY_BYTES), "buffer");
  const key = importExchangeKey(digest.subarray(0, KEY_BYTES));
  for (const secret of [der, digest]) secret.fill(0);
  return key;
}

/** Imports an X25519 private key of 32 bytes, which may be wiped afterwards. */
export function importExchangeKey(secret: Uint8Array): KeyObject {
  return importKey(X25519_HEAD, secret);
}

/** Uses DER although a JWK is faster, because the text of a JWK could not be wiped. */
function importKey(head: Buffer, secret: Uint8Array): KeyObject {
  const der = Buffer.concat([head, secret]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  der.fill(0);
  return key;
}
