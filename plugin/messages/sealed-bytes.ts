// plugin/messages/sealed-bytes.ts: the size limit, the binary form and the canonical form of received messages.
import { dearmor, isArmored } from "./saltpack/armor.js";
import { bin } from "./saltpack/msgpack.js";
import { packetParts, readSealed } from "./saltpack/sealed.js";

/** The size limit of a message, armored or binary: some brokers truncate larger ones. PROTOCOL 3.3 */
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
 * The header stays as received, since its bytes are authenticated. If a variant with a re-encoded header, which does not open,
 * had the same id, a recipient could deliver it first and block the original.
 *
 * @param bytes - the binary form
 * @throws TwtxtError `bad-message`
 * @see PROTOCOL 3.3
 */
export function canonicalForm(bytes: Uint8Array): Uint8Array {
  const { header, packets } = readSealed(bytes);
  return Buffer.concat([...bin(header), ...packets.flatMap(packetParts)]);
}
