// plugin/messages/node-primitives.ts: the primitives by node:crypto, which is many times faster than plain JavaScript.
import { createHash, createHmac, createPrivateKey, createPublicKey, verify } from "node:crypto";
import { agree, publicBytes, secretKeyOf } from "../keys/secret-key.js";
import type { Primitives } from "./saltpack/primitives.js";

export const nodePrimitives: Primitives = {
  sha512: (bytes) => createHash("sha512").update(bytes).digest(),
  hmacSha512: (key, bytes) => createHmac("sha512", key).update(bytes).digest(),
  // OpenSSL compares the bytes of R, without cofactor, and refuses an S beyond the group's order.
  verify: (signature, bytes, publicKey) => {
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: base64url(publicKey) }, format: "jwk" });
    return verify(null, bytes, key, signature);
  },
  ephemeralKey: (secret) => {
    // A JWK leaves its text to the garbage collector, but DER would take twice as long as all the rest of a sealing.
    const key = createPrivateKey({ key: { kty: "OKP", crv: "X25519", d: base64url(secret), x: "" }, format: "jwk" });
    return { publicKey: publicBytes(key), agree: (exchangeKey) => agree(key, exchangeKey) };
  },
  secretKey: secretKeyOf,
};

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}
