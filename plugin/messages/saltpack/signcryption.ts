// plugin/messages/saltpack/signcryption.ts: seals and opens messages in binary form.
import { xsalsa20 } from "@noble/ciphers/salsa.js";
import { concatBytes, equalBytes, utf8ToBytes } from "@noble/ciphers/utils.js";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import { isPublicKey, isWeakKey, type SecretKey } from "../../keys/key.js";
import { arrayHead, badMessage, bin } from "./msgpack.js";
import { type EphemeralKey, hsalsa20, type Primitives, type Random } from "./primitives.js";
import {
  HEADER_HEAD,
  KEY_BYTES,
  MAX_CHUNK_BYTES,
  PACKET_OVERHEAD,
  packetParts,
  readSealed,
  type SealedMessage,
  SIGNATURE_BYTES,
} from "./sealed.js";

const SENDER_NONCE = utf8ToBytes("saltpack_sender_key_sbox");
const DERIVED_KEY_NONCE = utf8ToBytes("saltpack_derived_sboxkey");
const RECIPIENT_NONCE_HEAD = utf8ToBytes("saltpack_recipsb");
const IDENTIFIER_KEY = utf8ToBytes("saltpack signcryption box key identifier");
const SIGNED_HEAD = utf8ToBytes("saltpack encrypted signature\0");
const NONCE_HEAD_BYTES = 16;
const MODIFIED = "it was modified after it was sealed";

export interface Sealing {
  sender: SecretKey;
  /** The recipients' X25519 public keys: 1 to 64 different ones, in the order of the message. */
  exchangeKeys: readonly Uint8Array[];
  /** Called twice for 32 bytes, the payload key and the ephemeral key. Both are wiped. */
  random: Random;
}

/** An opened message. */
export interface Opened {
  plaintext: Uint8Array;
  /** The signer's Ed25519 public key, 32 bytes. */
  sender: Uint8Array;
}

/**
 * Seals a message. The output depends only on the arguments and the random bytes.
 *
 * @returns the binary form
 * @throws TwtxtError `bad-key` for an exchange key of small order
 * @see PROTOCOL 3.2; saltpack_signcryption_v2
 */
export function sealInOrder(
  plaintext: Uint8Array,
  { sender, exchangeKeys, random }: Sealing,
  primitives: Primitives,
): Uint8Array {
  const payloadKey = random(KEY_BYTES);
  const ephemeralSecret = random(KEY_BYTES);
  try {
    const ephemeral = primitives.ephemeralKey(ephemeralSecret);
    const header = concatBytes(
      HEADER_HEAD,
      ...bin(ephemeral.publicKey),
      ...bin(primitives.boxes.close(payloadKey, SENDER_NONCE, sender.publicKey)),
      arrayHead(exchangeKeys.length),
      ...exchangeKeys.flatMap((key, index) => recipientPair(payloadKey, ephemeral, key, index, primitives)),
    );
    return concatBytes(...bin(header), ...sealPackets(plaintext, payloadKey, header, sender, primitives));
  } finally {
    payloadKey.fill(0);
    ephemeralSecret.fill(0);
  }
}

function recipientPair(
  payloadKey: Uint8Array,
  ephemeral: EphemeralKey,
  exchangeKey: Uint8Array,
  index: number,
  primitives: Primitives,
): Uint8Array[] {
  const derived = derivedKey(ephemeral.agree(exchangeKey));
  const nonce = recipientNonce(index);
  const identifier = deriveIdentifier(derived, nonce, primitives);
  const box = primitives.boxes.close(derived, nonce, payloadKey);
  derived.fill(0);
  return [arrayHead(2), ...bin(identifier), ...bin(box)];
}

/** Returns parts, so that large ones are copied once. An empty message is one empty packet. */
function sealPackets(
  plaintext: Uint8Array,
  payloadKey: Uint8Array,
  header: Uint8Array,
  sender: SecretKey,
  { sha512, boxes }: Primitives,
): Uint8Array[] {
  const headerHash = sha512(header);
  const count = Math.max(1, Math.ceil(plaintext.length / MAX_CHUNK_BYTES));
  return Array.from({ length: count }).flatMap((_, index) => {
    const chunk = plaintext.subarray(index * MAX_CHUNK_BYTES, (index + 1) * MAX_CHUNK_BYTES);
    const isFinal = index === count - 1;
    const nonce = packetNonce(headerHash, index, isFinal);
    const signature = sender.sign(signedBytes(headerHash, nonce, isFinal, sha512(chunk)));
    return packetParts({ box: boxes.close(payloadKey, nonce, concatBytes(signature, chunk)), isFinal });
  });
}

/**
 * Opens a message.
 *
 * @param bytes - the binary form
 * @throws TwtxtError `bad-message` for an invalid format; `not-a-recipient`; `not-authentic` for a modified message, an
 *   anonymous sender, or a wrong signature
 * @see PROTOCOL 3.2; saltpack_signcryption_v2
 */
export function openBinary(bytes: Uint8Array, key: SecretKey, primitives: Primitives): Opened {
  const message = readSealed(bytes);
  const payloadKey = findPayloadKey(message, key, primitives);
  try {
    const sender = openSender(message, payloadKey, primitives);
    return { plaintext: openPackets(message, payloadKey, sender, primitives), sender };
  } finally {
    payloadKey.fill(0);
  }
}

/** Makes one key exchange, for any number of recipients. */
function findPayloadKey({ ephemeralKey, recipients }: SealedMessage, key: SecretKey, primitives: Primitives) {
  const derived = derivedKey(agree(key, ephemeralKey));
  try {
    for (const [index, { identifier, payloadKeyBox }] of recipients.entries()) {
      const nonce = recipientNonce(index);
      if (!equalBytes(deriveIdentifier(derived, nonce, primitives), identifier)) continue;
      return primitives.boxes.open(derived, nonce, payloadKeyBox) ?? throwNotAuthentic(MODIFIED);
    }
    throw new TwtxtError("not-a-recipient", "This message is not sealed to this key.");
  } finally {
    derived.fill(0);
  }
}

function agree(key: SecretKey, ephemeralKey: Uint8Array): Uint8Array {
  try {
    return key.agree(ephemeralKey);
  } catch (error) {
    throw ifTwtxtError(() => badMessage("its ephemeral key is invalid"), "bad-key")(error);
  }
}

function openSender({ senderBox }: SealedMessage, payloadKey: Uint8Array, { boxes }: Primitives): Uint8Array {
  const sender = boxes.open(payloadKey, SENDER_NONCE, senderBox) ?? throwNotAuthentic(MODIFIED);
  if (sender.every((byte) => byte === 0)) throwNotAuthentic("its sender is anonymous");
  // With a key of small order, one signature is valid for any content.
  if (isWeakKey(sender)) throwNotAuthentic("its sender's key is invalid");
  return new Uint8Array(sender);
}

function openPackets(
  { header, packets }: SealedMessage,
  payloadKey: Uint8Array,
  sender: Uint8Array,
  { sha512, verify, boxes }: Primitives,
): Uint8Array {
  const headerHash = sha512(header);
  const size = packets.reduce((sum, { box }) => sum + box.length - PACKET_OVERHEAD, 0);
  const plaintext = new Uint8Array(size);
  let at = 0;
  for (const [index, { box, isFinal }] of packets.entries()) {
    const nonce = packetNonce(headerHash, index, isFinal);
    const content = boxes.open(payloadKey, nonce, box) ?? throwNotAuthentic(MODIFIED);
    const chunk = content.subarray(SIGNATURE_BYTES);
    const signed = signedBytes(headerHash, nonce, isFinal, sha512(chunk));
    if (!verify(content.subarray(0, SIGNATURE_BYTES), signed, sender)) {
      throwNotAuthentic(isPublicKey(sender) ? "its sender did not sign it" : "its sender's key is invalid");
    }
    plaintext.set(chunk, at);
    at += chunk.length;
  }
  return plaintext;
}

function throwNotAuthentic(why: string): never {
  throw new TwtxtError("not-authentic", `This message cannot be trusted: ${why}.`);
}

/**
 * The key of a sender and a recipient: the end of a box of 32 zeros, which is the key stream after the 32 bytes for Poly1305.
 *
 * @param shared - the result of X25519, which is wiped
 * @returns 32 bytes; the caller must wipe them
 */
function derivedKey(shared: Uint8Array): Uint8Array {
  const key = hsalsa20(shared, new Uint8Array(NONCE_HEAD_BYTES));
  const stream = xsalsa20(key, DERIVED_KEY_NONCE, new Uint8Array(2 * KEY_BYTES));
  const derived = stream.slice(KEY_BYTES);
  for (const secret of [shared, key, stream]) secret.fill(0);
  return derived;
}

/** @param index - of the recipient, from 0 */
function recipientNonce(index: number): Uint8Array {
  return concatBytes(RECIPIENT_NONCE_HEAD, bigEndian(index));
}

/** The identifier by which recipients find their entry. It tells others nothing. */
function deriveIdentifier(derived: Uint8Array, nonce: Uint8Array, { hmacSha512 }: Primitives): Uint8Array {
  const input = concatBytes(derived, nonce);
  const identifier = hmacSha512(IDENTIFIER_KEY, input).subarray(0, KEY_BYTES);
  input.fill(0);
  return identifier;
}

/** @param index - of the packet, from 0 */
function packetNonce(headerHash: Uint8Array, index: number, isFinal: boolean): Uint8Array {
  const head = new Uint8Array(headerHash.subarray(0, NONCE_HEAD_BYTES));
  const last = NONCE_HEAD_BYTES - 1;
  head[last] = ((head[last] ?? 0) & 0xfe) | Number(isFinal);
  return concatBytes(head, bigEndian(index));
}

function signedBytes(headerHash: Uint8Array, nonce: Uint8Array, isFinal: boolean, chunkHash: Uint8Array): Uint8Array {
  return concatBytes(SIGNED_HEAD, headerHash, nonce, Uint8Array.of(Number(isFinal)), chunkHash);
}

/** @returns 8 bytes */
function bigEndian(index: number): Uint8Array {
  return Uint8Array.of(0, 0, 0, 0, index >> 24, index >> 16, index >> 8, index);
}
