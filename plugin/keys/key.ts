// plugin/keys/key.ts: public keys as text (`kex1...`), as bytes and for key exchange.
import { bech32, hex } from "@scure/base";
import { TwtxtError } from "../errors.js";
import { inverse, isSquare, PRIME } from "./field.js";

const PREFIX = "kex";
const KEY_BYTES = 32;
/** y of the points of order 1, 2, 4 and 8. */
const SMALL_ORDER_Y = new Set([
  1n,
  PRIME - 1n,
  0n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
]);
/** The constant d of the curve. RFC 8032, section 5.1 */
const D = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;

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

/** Whether bytes are an Ed25519 public key: 32 of them, in canonical form, a point that is not of small order. */
export function isPublicKey(bytes: Uint8Array): boolean {
  return keyY(bytes) !== null;
}

/**
 * Whether bytes have the y of a point of small order, or a y that is not in canonical form. This is what the verification of a
 * signature does not check. It does check that the key is a point of the curve.
 *
 * @param bytes - 32 bytes
 */
export function isWeakKey(bytes: Uint8Array): boolean {
  return isWeak(yOf(bytes));
}

/**
 * The X25519 public key that belongs to an Ed25519 one, by the map from Edwards to Montgomery form.
 *
 * @returns 32 bytes, or `null` for what {@link isPublicKey} refuses
 * @see RFC 7748, section 4.1
 */
export function exchangeKeyOf(publicKey: Uint8Array): Uint8Array | null {
  const y = keyY(publicKey);
  if (y === null) return null;
  // Only the neutral element has y = 1, and that is of small order.
  const u = ((1n + y) * inverse(PRIME + 1n - y)) % PRIME;
  return hex.decode(u.toString(16).padStart(2 * KEY_BYTES, "0")).reverse();
}

/** The number in the first 255 bits, little-endian; the last bit is the sign of x. */
function yOf(bytes: Uint8Array): bigint {
  return BigInt.asUintN(255, BigInt(`0x${hex.encode(Uint8Array.from(bytes).reverse())}`));
}

/** @returns `null` for what {@link isPublicKey} refuses */
function keyY(bytes: Uint8Array): bigint | null {
  if (bytes.length !== KEY_BYTES) return null;
  const y = yOf(bytes);
  return isWeak(y) || !isOnCurve(y) ? null : y;
}

function isWeak(y: bigint): boolean {
  return y >= PRIME || SMALL_ORDER_Y.has(y);
}

/**
 * Whether a point has this y: -x² + y² = 1 + dx²y², so (y² - 1) / (dy² + 1) must be a square, which the product then is too.
 *
 * @param y - not 1 or -1
 */
function isOnCurve(y: bigint): boolean {
  return isSquare((y * y - 1n + PRIME) * (D * y * y + 1n));
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
