// plugin/messages/sealed-bytes.ts: binary and canonical forms of received messages.
import { dearmor, isArmored } from "./saltpack/armor.js";
import { arrayHead, binHead, FALSE, TRUE } from "./saltpack/msgpack.js";
import { readSealed } from "./saltpack/sealed.js";

/** The size limit of a message, armored or binary: some brokers cut a larger one. PROTOCOL 3.3 */
export const MESSAGE_BYTES = 64 * 1024;

/**
 * Converts a message to its binary form and checks everything that can be checked without a key.
 *
 * @param body - armored or binary
 * @throws TwtxtError `bad-armor`, `bad-message`
 * @see PROTOCOL 3.3
 */
export function sealedBytes(body: Uint8Array): Uint8Array {
  const bytes = isArmored(body) ? dearmor(body) : body;
  readSealed(bytes);
  return bytes;
}

/**
 * The form whose hash is the message's id: the shortest MessagePack around header and packets, without unknown fields in
 * packets. These parts are not authenticated, so anyone with a message can make variants that open.
 *
 * The header's bytes stay as received, since they are hashed into the seal and another encoding does not open. If it
 * counted as the same message, a recipient could deliver a broken variant first and block the original.
 *
 * @param bytes - the binary form
 * @throws TwtxtError `bad-message`
 * @see PROTOCOL 3.3
 */
export function canonicalForm(bytes: Uint8Array): Uint8Array {
  const { header, packets } = readSealed(bytes);
  return Buffer.concat([
    binHead(header.length),
    header,
    ...packets.flatMap(({ box, isFinal }) => [
      arrayHead(2),
      binHead(box.length),
      box,
      Uint8Array.of(isFinal ? TRUE : FALSE),
    ]),
  ]);
}
