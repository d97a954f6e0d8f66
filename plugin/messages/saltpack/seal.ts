// plugin/messages/saltpack/seal.ts: seals a message: encrypted for its recipients, signed by its sender.
import { concatBytes, utf8ToBytes } from "@noble/ciphers/utils.js";
import { TwtxtError } from "../../errors.js";
import { exchangeKeyOf } from "../../keys/key.js";
import { derivedKey, identifierOf, packetNonce, recipientNonce, SENDER_NONCE, signedBytes } from "./derived.js";
import { arrayHead, binHead, FALSE, TRUE } from "./msgpack.js";
import type { EphemeralKey, Primitives, Random, SecretKey } from "./primitives.js";
import { FORMAT_NAME, KEY_BYTES, MAJOR_VERSION, MAX_CHUNK_BYTES, MODE } from "./sealed.js";

/** Who seals, and to whom. */
export interface Sealing {
  sender: SecretKey;
  /** 1 to 64 different Ed25519 public keys, in the order in which the message is to list them. */
  recipients: readonly Uint8Array[];
  /** Asked for 32 bytes twice: the payload key, then the ephemeral key. Both are wiped. */
  random: Random;
}

const FORMAT_NAME_BYTES = utf8ToBytes(FORMAT_NAME);
/** ["saltpack", [2, 0], 3, ...] */
const HEADER_HEAD = concatBytes(
  arrayHead(6),
  Uint8Array.of(0xa0 | FORMAT_NAME_BYTES.length),
  FORMAT_NAME_BYTES,
  arrayHead(2),
  Uint8Array.of(MAJOR_VERSION, 0, MODE),
);

/**
 * Seals a message. The same bytes come out of the same key, recipients, order and randomness.
 *
 * @returns the binary form
 * @throws TwtxtError `bad-key` for a recipient that is no public key
 * @see PROTOCOL 3.2; saltpack_signcryption_v2
 */
export function sealInOrder(
  plaintext: Uint8Array,
  { sender, recipients, random }: Sealing,
  primitives: Primitives,
): Uint8Array {
  const exchangeKeys = recipients.map(goodExchangeKey);
  const payloadKey = random(KEY_BYTES);
  const ephemeralSecret = random(KEY_BYTES);
  try {
    const ephemeral = primitives.ephemeralKey(ephemeralSecret);
    const header = concatBytes(
      HEADER_HEAD,
      ...bin(ephemeral.publicKey),
      ...bin(primitives.boxes.close(payloadKey, SENDER_NONCE, sender.publicKey)),
      arrayHead(recipients.length),
      ...exchangeKeys.flatMap((key, index) => recipientPair(payloadKey, ephemeral, key, index, primitives)),
    );
    return concatBytes(
      ...bin(header),
      ...packets(plaintext, payloadKey, primitives.sha512(header), sender, primitives),
    );
  } finally {
    payloadKey.fill(0);
    ephemeralSecret.fill(0);
  }
}

function goodExchangeKey(recipient: Uint8Array): Uint8Array {
  const key = exchangeKeyOf(recipient);
  if (key) return key;
  throw new TwtxtError("bad-key", "A recipient's key is no point of the curve that a key may be.");
}

function recipientPair(
  payloadKey: Uint8Array,
  ephemeral: EphemeralKey,
  exchangeKey: Uint8Array,
  index: number,
  primitives: Primitives,
): Uint8Array[] {
  const derived = derivedKey(ephemeral.agree(exchangeKey), primitives);
  const nonce = recipientNonce(index);
  const identifier = identifierOf(derived, nonce, primitives);
  const box = primitives.boxes.close(derived, nonce, payloadKey);
  derived.fill(0);
  return [arrayHead(2), ...bin(identifier), ...bin(box)];
}

/** In parts that are joined once, since they are large. An empty message is one empty packet; there is no other empty one. */
function packets(
  plaintext: Uint8Array,
  payloadKey: Uint8Array,
  headerHash: Uint8Array,
  sender: SecretKey,
  { sha512, boxes }: Primitives,
): Uint8Array[] {
  const count = Math.max(1, Math.ceil(plaintext.length / MAX_CHUNK_BYTES));
  return Array.from({ length: count }).flatMap((_, index) => {
    const chunk = plaintext.subarray(index * MAX_CHUNK_BYTES, (index + 1) * MAX_CHUNK_BYTES);
    const isFinal = index === count - 1;
    const nonce = packetNonce(headerHash, index, isFinal);
    const signature = sender.sign(signedBytes(headerHash, nonce, isFinal, sha512(chunk)));
    const box = boxes.close(payloadKey, nonce, concatBytes(signature, chunk));
    return [arrayHead(2), ...bin(box), Uint8Array.of(isFinal ? TRUE : FALSE)];
  });
}

function bin(bytes: Uint8Array): [Uint8Array, Uint8Array] {
  return [binHead(bytes.length), bytes];
}
