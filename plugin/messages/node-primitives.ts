// plugin/messages/node-primitives.ts: the primitives by node:crypto and WebAssembly, many times faster than plain JavaScript.
import { createHash, createHmac, createPrivateKey, type KeyObject } from "node:crypto";
import { agree, importExchangeKey, publicBytes, secretKeyOf } from "../keys/secret-key.js";
import { isSignedBy } from "../keys/verify.js";
import { type Boxes, nobleBoxes } from "./saltpack/box.js";
import type { Primitives } from "./saltpack/primitives.js";
import { wasmBoxes } from "./saltpack/wasm-boxes.js";

/** Smaller boxes are not worth the 10 to 20 ms that it takes to compile the module. No message of an inbox is larger. */
const LARGE_BOX_BYTES = 2 ** 16;
let largeBoxes: Boxes | undefined;

export const nodePrimitives: Primitives = {
  sha512: (bytes) => createHash("sha512").update(bytes).digest(),
  hmacSha512: (key, bytes) => createHmac("sha512", key).update(bytes).digest(),
  verify: (signature, bytes, publicKey) => isSignedBy(publicKey, bytes, signature),
  ephemeralKey: (secret) => {
    const key = importEphemeral(secret);
    return { publicKey: publicBytes(key), agree: (exchangeKey) => agree(key, exchangeKey) };
  },
  secretKey: secretKeyOf,
  boxes: {
    close: (key, nonce, content) => boxesFor(content).close(key, nonce, content),
    open: (key, nonce, box) => boxesFor(box).open(key, nonce, box),
  },
};

function boxesFor({ length }: Uint8Array): Boxes {
  if (length < LARGE_BOX_BYTES) return nobleBoxes;
  largeBoxes ??= wasmBoxes() ?? nobleBoxes;
  return largeBoxes;
}

/** A JWK leaves the key's text to the garbage collector, but DER would take twice as long as the rest of a sealing. */
function importEphemeral(secret: Uint8Array): KeyObject {
  try {
    return createPrivateKey({ key: { kty: "OKP", crv: "X25519", d: base64url(secret), x: "" }, format: "jwk" });
  } catch {
    // From Node 26 on, a JWK needs the public half too, which is not known here.
    return importExchangeKey(secret);
  }
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}
