// plugin/messages/sealing.ts: sealing and opening on Node.js, with node:crypto and libsodium.
import { createHmac, createPrivateKey, hash, type KeyObject, randomBytes } from "node:crypto";
import { TwtxtError } from "../errors.js";
import { agree, importExchangeKey, isSignedBy, publicBytes, toSecretKey, toVerifyingKey } from "../keys/ed25519.js";
import type { SecretKey } from "../keys/key.js";
import { type Boxes, nobleBoxes, type Primitives } from "./saltpack/primitives.js";
import { Saltpack } from "./saltpack/saltpack.js";
import type { Opened } from "./saltpack/signcryption.js";

/** Loading libsodium takes some 10 ms, which smaller boxes do not save. All messages of an inbox are smaller. */
const LARGE_BOX_BYTES = 2 ** 16;
let largeBoxes: Boxes | undefined;

export const nodePrimitives: Primitives = {
  sha512: (bytes) => hash("sha512", bytes, "buffer"),
  hmacSha512: (key, bytes) => createHmac("sha512", key).update(bytes).digest(),
  verify: (signature, bytes, publicKey) => isSignedBy(toVerifyingKey(publicKey), bytes, signature),
  ephemeralKey: (secret) => {
    const key = importEphemeral(secret);
    return { publicKey: publicBytes(key), agree: (exchangeKey) => agree(key, exchangeKey) };
  },
  secretKey: toSecretKey,
  boxes: {
    close: (key, nonce, content) => chooseBoxes(content).close(key, nonce, content),
    open: (key, nonce, box) => chooseBoxes(box).open(key, nonce, box),
  },
};

const saltpack = new Saltpack(nodePrimitives, randomBytes);
export const seal: Saltpack["seal"] = saltpack.seal.bind(saltpack);
export const open: Saltpack["open"] = saltpack.open.bind(saltpack);
export const secretKey: Saltpack["secretKey"] = saltpack.secretKey.bind(saltpack);

/** The author's current key, then earlier ones. */
export type OwnKeys = readonly [SecretKey, ...SecretKey[]];

/** @throws TwtxtError as `open`; `not-a-recipient` if it was sealed to none of these keys */
export function openWith(message: Uint8Array | string, [key, ...others]: OwnKeys): Opened {
  try {
    return open(message, { key });
  } catch (error) {
    const [next, ...rest] = others;
    const isOfAnother = error instanceof TwtxtError && error.code === "not-a-recipient";
    if (next === undefined || !isOfAnother) throw error;
    return openWith(message, [next, ...rest]);
  }
}

/** The first large box starts to load libsodium. Until it is loaded, and where it cannot be, JavaScript makes the same boxes. */
function chooseBoxes({ length }: Uint8Array): Boxes {
  if (length < LARGE_BOX_BYTES) return nobleBoxes;
  if (largeBoxes === undefined) {
    largeBoxes = nobleBoxes;
    const use = (boxes: Boxes) => {
      largeBoxes = boxes;
    };
    loadLibsodiumBoxes().then(use, () => {});
  }
  return largeBoxes;
}

/** Loads libsodium, which takes some 10 ms. Its boxes have the same bytes as {@link nobleBoxes}, about twice as fast. */
export async function loadLibsodiumBoxes(): Promise<Boxes> {
  const { default: sodium } = await import("libsodium-wrappers");
  await sodium.ready;
  return {
    close: (key, nonce, content) => sodium.crypto_secretbox_easy(content, nonce, key),
    open: (key, nonce, box) => {
      try {
        return sodium.crypto_secretbox_open_easy(box, nonce, key);
      } catch {
        return null;
      }
    },
  };
}

/** Uses a JWK, whose text cannot be wiped, because importing DER would take twice as long as the rest of sealing. */
function importEphemeral(secret: Uint8Array): KeyObject {
  try {
    const d = Buffer.from(secret).toString("base64url");
    return createPrivateKey({ key: { kty: "OKP", crv: "X25519", d, x: "" }, format: "jwk" });
  } catch {
    // Node.js 26 and later require the public key in a JWK, which is not known yet.
    return importExchangeKey(secret);
  }
}
