// plugin/messages/sealed-bytes.ts: a sealed message as it came in, in its binary form.
import { dearmor, isArmored } from "./saltpack/armor.js";
import { arrayHead, binHead, FALSE, TRUE } from "./saltpack/msgpack.js";
import { readSealed } from "./saltpack/sealed.js";

/**
 * The binary form of a message, with all of its form checked that can be seen without a key.
 *
 * @param body - armored or binary
 * @returns the bytes by whose hash a message is known, however it was armored
 * @throws TwtxtError `bad-armor`, `bad-message`
 * @see PROTOCOL 3.3
 */
export function sealedBytes(body: Uint8Array): Uint8Array {
  const bytes = isArmored(body) ? dearmor(body) : body;
  readSealed(bytes);
  return bytes;
}

/**
 * A message in the one form that sealing gives it. Nothing seals how lengths are written around its header and its packets,
 * nor what a packet holds beyond its flag: whoever has a message can make others of it, which open all the same.
 *
 * @param bytes - the binary form
 * @throws TwtxtError `bad-message`
 */
export function plainestForm(bytes: Uint8Array): Uint8Array {
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
