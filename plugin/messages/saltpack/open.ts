// plugin/messages/saltpack/open.ts: opens a sealed message, all of it or nothing.
import { equalBytes } from "@noble/ciphers/utils.js";
import { TwtxtError } from "../../errors.js";
import { isPublicKey, isWeakKey } from "../../keys/key.js";
import { derivedKey, identifierOf, packetNonce, recipientNonce, SENDER_NONCE, signedBytes } from "./derived.js";
import { badMessage } from "./msgpack.js";
import type { Primitives, SecretKey } from "./primitives.js";
import { PACKET_OVERHEAD, readSealed, type SealedMessage, SIGNATURE_BYTES } from "./sealed.js";

/** What was sealed, and who has signed it. */
export interface Opened {
  plaintext: Uint8Array;
  /** The Ed25519 public key of 32 bytes that has signed it. Whose it is, it does not say. */
  sender: Uint8Array;
}

/**
 * Opens a message.
 *
 * @param bytes - the binary form
 * @throws TwtxtError `bad-message` for what is not exactly in the format; `not-a-recipient`; `not-authentic` where it
 *   has changed since it was sealed, or its sender is anonymous or has not signed it
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

/** Makes one key exchange, however many recipients there are. */
function findPayloadKey(
  { ephemeralKey, recipients }: SealedMessage,
  key: SecretKey,
  primitives: Primitives,
): Uint8Array {
  const derived = derivedKey(agree(key, ephemeralKey), primitives);
  try {
    for (const [index, { identifier, payloadKeyBox }] of recipients.entries()) {
      const nonce = recipientNonce(index);
      if (!equalBytes(identifierOf(derived, nonce, primitives), identifier)) continue;
      const payloadKey = primitives.boxes.open(derived, nonce, payloadKeyBox);
      if (payloadKey === null) throw notAuthentic("it has changed since it was sealed");
      return payloadKey;
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
    if (error instanceof TwtxtError && error.code === "bad-key") throw badMessage("its ephemeral key is none");
    throw error;
  }
}

function openSender({ senderBox }: SealedMessage, payloadKey: Uint8Array, { boxes }: Primitives): Uint8Array {
  const sender = boxes.open(payloadKey, SENDER_NONCE, senderBox);
  if (sender === null) throw notAuthentic("it has changed since it was sealed");
  if (sender.every((byte) => byte === 0)) throw notAuthentic("its sender is anonymous");
  // With a key of small order, one signature is right for whatever is signed.
  if (isWeakKey(sender)) throw notAuthentic("its sender's key is none");
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
    const content = boxes.open(payloadKey, nonce, box);
    if (content === null) throw notAuthentic("it has changed since it was sealed");
    const chunk = content.subarray(SIGNATURE_BYTES);
    const signed = signedBytes(headerHash, nonce, isFinal, sha512(chunk));
    if (!verify(content.subarray(0, SIGNATURE_BYTES), signed, sender)) {
      throw notAuthentic(isPublicKey(sender) ? "its sender has not signed it" : "its sender's key is none");
    }
    plaintext.set(chunk, at);
    at += chunk.length;
  }
  return plaintext;
}

function notAuthentic(why: string): TwtxtError {
  return new TwtxtError("not-authentic", `This message is not to be trusted: ${why}.`);
}
