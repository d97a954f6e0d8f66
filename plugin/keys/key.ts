// plugin/keys/key.ts: public keys as text (`kex1...`), as bytes and for key exchange.
import { etc, Point } from "@noble/ed25519";
import { bech32 } from "@scure/base";
import { TwtxtError } from "../errors.js";

const PREFIX = "kex";
const KEY_BYTES = 32;
/** y of the points of order 1, 2, 4 and 8, in hex. */
const SMALL_ORDER_Y = new Set([
  "0000000000000000000000000000000000000000000000000000000000000001",
  "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826",
  "7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7",
]);
/** The prime of the field: a larger y is not canonical. */
const FIELD_PRIME = "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed";

/** A private key, which signs and agrees but cannot be read. */
export interface SecretKey {
  /** The 32 bytes of its Ed25519 public key. */
  readonly publicKey: Uint8Array;
  /** @returns an Ed25519 signature of 64 bytes */
  sign(bytes: Uint8Array): Uint8Array;
  /**
   * @param exchangeKey - an X25519 public key of 32 bytes
   * @returns the shared secret of X25519, 32 bytes; the caller must wipe them
   * @throws TwtxtError `bad-key` for a key of small order, whose shared secret is the same for everyone
   */
  agree(exchangeKey: Uint8Array): Uint8Array;
}

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
  if (bytes.length !== KEY_BYTES) throw badKey(text, `it has ${bytes.length} bytes instead of ${KEY_BYTES}`);
  if (!isPublicKey(bytes)) throw badKey(text, "it is not a valid point of the curve");
  return bytes;
}

/** Writes a public key of 32 bytes as `kex1...`. */
export function formatKey(publicKey: Uint8Array): string {
  return bech32.encodeFromBytes(PREFIX, publicKey);
}

/** A public key as {@link formatKey} writes it; `null` for any other text. The same key in capitals would count as another one. */
export function canonicalKey(text: string): string | null {
  try {
    return formatKey(parseKey(text));
  } catch {
    return null;
  }
}

/** Whether a text is a public key as {@link formatKey} writes it. */
export function isKeyText(text: string): boolean {
  return canonicalKey(text) === text;
}

/** Whether bytes are an Ed25519 public key: 32 of them, in canonical form, a point that is not of small order. */
export function isPublicKey(bytes: Uint8Array): boolean {
  return toPoint(bytes) !== null;
}

/**
 * Whether bytes have the y of a point of small order, or a y that is not in canonical form. The verification of a
 * signature does not check this; it does check that the key is a point of the curve, which takes much longer.
 *
 * @param bytes - 32 bytes
 */
export function isWeakKey(bytes: Uint8Array): boolean {
  const y = Uint8Array.from(bytes).reverse();
  y[0] = (y[0] ?? 0) & 0x7f;
  const text = etc.bytesToHex(y);
  return text >= FIELD_PRIME || SMALL_ORDER_Y.has(text);
}

/**
 * The X25519 public key that belongs to an Ed25519 one, by the map from Edwards to Montgomery form.
 *
 * @returns 32 bytes, or `null` for what {@link isPublicKey} refuses
 * @see RFC 7748, section 4.1
 */
export function toExchangeKey(publicKey: Uint8Array): Uint8Array | null {
  const point = toPoint(publicKey);
  if (point === null) return null;
  // Fresh from its bytes, a point has Z = 1, so Y is y. Only the neutral element has y = 1, and that is of small order.
  const u = etc.mod((1n + point.Y) * etc.invert(etc.mod(1n - point.Y), Point.CURVE().p));
  return etc.hexToBytes(u.toString(16).padStart(2 * KEY_BYTES, "0")).reverse();
}

function toPoint(bytes: Uint8Array): Point | null {
  try {
    return isWeakKey(bytes) ? null : Point.fromBytes(bytes);
  } catch {
    return null;
  }
}

function decode(text: string): Uint8Array {
  let decoded: { prefix: string; bytes: Uint8Array };
  try {
    decoded = bech32.decodeToBytes(text);
  } catch {
    throw badKey(text, "it is incomplete or mistyped");
  }
  if (decoded.prefix === PREFIX) return decoded.bytes;
  throw badKey(text, `it starts with "${decoded.prefix}1" instead of "${PREFIX}1"`);
}

function badKey(text: string, why: string): TwtxtError {
  return new TwtxtError(
    "bad-key",
    `expected a public key such as "kex1...", got ${JSON.stringify(text.slice(0, 80))}: ${why}.`,
  );
}
