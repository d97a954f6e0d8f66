// plugin/keys/key.ts: a public key as text, `kex1...`.
import { Point } from "@noble/ed25519";
import { bech32 } from "@scure/base";
import { TwtxtError } from "../errors.js";

const PREFIX = "kex";
const KEY_BYTES = 32;

/**
 * Reads a public key.
 *
 * @param text - bech32 with the prefix `kex`, in one case
 * @returns the 32 bytes of an Ed25519 public key
 * @throws TwtxtError `bad-key` for another prefix, a wrong checksum, mixed case, another length, and points of small
 *   order or not in canonical form
 * @see PROTOCOL 3.1
 */
export function parseKey(text: string): Uint8Array {
  const bytes = decode(text);
  if (bytes.length !== KEY_BYTES) throw badKey(text, `it holds ${bytes.length} bytes instead of ${KEY_BYTES}`);
  if (!isGoodPoint(bytes)) throw badKey(text, "it is no point of the curve that a key may be");
  return bytes;
}

/** Writes a public key of 32 bytes as `kex1...`. */
export function formatKey(publicKey: Uint8Array): string {
  return bech32.encodeFromBytes(PREFIX, publicKey);
}

function decode(text: string): Uint8Array {
  let decoded: { prefix: string; bytes: Uint8Array };
  try {
    decoded = bech32.decodeToBytes(text);
  } catch {
    throw badKey(text, "it is not copied whole, or not copied right");
  }
  if (decoded.prefix === PREFIX) return decoded.bytes;
  throw badKey(text, `it starts with "${decoded.prefix}1" instead of "${PREFIX}1"`);
}

function isGoodPoint(bytes: Uint8Array): boolean {
  try {
    return !Point.fromBytes(bytes).isSmallOrder();
  } catch {
    return false;
  }
}

function badKey(text: string, why: string): TwtxtError {
  return new TwtxtError(
    "bad-key",
    `expected a public key such as "kex1...", got ${JSON.stringify(text.slice(0, 80))}: ${why}.`,
  );
}
