// plugin/messages/saltpack/derived.ts: keys, nonces and signed bytes that sealing and opening both come to.
import { concatBytes, utf8ToBytes } from "@noble/ciphers/utils.js";
import { boxKey } from "./box.js";
import type { Primitives } from "./primitives.js";
import { KEY_BYTES } from "./sealed.js";

export const SENDER_NONCE = utf8ToBytes("saltpack_sender_key_sbox");
const DERIVED_KEY_NONCE = utf8ToBytes("saltpack_derived_sboxkey");
const RECIPIENT_NONCE_HEAD = utf8ToBytes("saltpack_recipsb");
const IDENTIFIER_KEY = utf8ToBytes("saltpack signcryption box key identifier");
const SIGNED_HEAD = utf8ToBytes("saltpack encrypted signature\0");
const NONCE_HEAD_BYTES = 16;

/**
 * The key that sender and recipient share.
 *
 * @param shared - what X25519 gave, which is wiped
 * @returns 32 bytes, to be wiped by whoever asked
 */
export function derivedKey(shared: Uint8Array, { boxes }: Primitives): Uint8Array {
  const key = boxKey(shared);
  const box = boxes.close(key, DERIVED_KEY_NONCE, new Uint8Array(KEY_BYTES));
  const derived = new Uint8Array(box.subarray(-KEY_BYTES));
  for (const secret of [shared, key, box]) secret.fill(0);
  return derived;
}

/** @param index - which of the recipients, from 0 */
export function recipientNonce(index: number): Uint8Array {
  return concatBytes(RECIPIENT_NONCE_HEAD, bigEndian(index));
}

/** What tells a recipient that an entry is theirs, and tells others nothing. */
export function identifierOf(derived: Uint8Array, nonce: Uint8Array, { hmacSha512 }: Primitives): Uint8Array {
  const input = concatBytes(derived, nonce);
  const identifier = hmacSha512(IDENTIFIER_KEY, input).subarray(0, KEY_BYTES);
  input.fill(0);
  return identifier;
}

/** @param index - which of the packets, from 0 */
export function packetNonce(headerHash: Uint8Array, index: number, isFinal: boolean): Uint8Array {
  const head = new Uint8Array(headerHash.subarray(0, NONCE_HEAD_BYTES));
  const last = NONCE_HEAD_BYTES - 1;
  head[last] = ((head[last] ?? 0) & 0xfe) | Number(isFinal);
  return concatBytes(head, bigEndian(index));
}

/** What the sender signs of a packet. */
export function signedBytes(
  headerHash: Uint8Array,
  nonce: Uint8Array,
  isFinal: boolean,
  chunkHash: Uint8Array,
): Uint8Array {
  return concatBytes(SIGNED_HEAD, headerHash, nonce, Uint8Array.of(Number(isFinal)), chunkHash);
}

/** A number in eight bytes. */
function bigEndian(number: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(number));
  return bytes;
}
