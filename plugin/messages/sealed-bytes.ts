// plugin/messages/sealed-bytes.ts: a sealed message as it came in, in its binary form.
import { dearmor, isArmored } from "./saltpack/armor.js";
import { arrayHead, binHead, FALSE, TRUE } from "./saltpack/msgpack.js";
import { readSealed } from "./saltpack/sealed.js";

/** The size limit of a message, armored or binary: some brokers cut a larger one. PROTOCOL 3.3 */
export const MESSAGE_BYTES = 64 * 1024;

/**
 * The binary form of a message, with all of its form checked that can be seen without a key.
 *
 * @param body - armored or binary
 * @returns the binary form as it came
 * @throws TwtxtError `bad-armor`, `bad-message`
 * @see PROTOCOL 3.3
 */
export function sealedBytes(body: Uint8Array): Uint8Array {
  const bytes = isArmored(body) ? dearmor(body) : body;
  readSealed(bytes);
  return bytes;
}

/**
 * The form of a message that its id is the hash of: the shortest MessagePack around its header and its packets, and nothing
 * in a packet beyond what this version knows. Nothing seals these, so any holder of a message can make variants of it that all open.
 *
 * The header stays as it came: its bytes are hashed into the seal, so one that is encoded in another way does not open. If it
 * counted as the same message, a recipient could deliver such a header to another one first, and the message itself would be refused.
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
