// plugin/messages/saltpack/saltpack.ts: sealing and opening as everybody calls them, on the primitives of a runtime.
import { equalBytes } from "@noble/ciphers/utils.js";
import { TwtxtError } from "../../errors.js";
import { armor, dearmor, isArmored } from "./armor.js";
import { type Opened, openBinary } from "./open.js";
import type { Primitives, Random, SecretKey } from "./primitives.js";
import { sealInOrder } from "./seal.js";
import { KEY_BYTES, MAX_RECIPIENTS } from "./sealed.js";
import { shuffled } from "./shuffle.js";

/** Who seals, and to whom. */
export interface SealOptions {
  /** 64 bytes, a seed of 32 and its public key; or such a key prepared once, which is several times faster. */
  sender: Uint8Array | SecretKey;
  /** 1 to 64 Ed25519 public keys of 32 bytes. Who wants a copy of their own is one of them. */
  recipients: readonly Uint8Array[];
  /** Whether text is wanted, which is larger by 43 percent and survives being pasted. */
  armor?: boolean;
}

/** Sealing and opening on one runtime. */
export interface Saltpack {
  /**
   * Seals a message: its recipients alone can read it, and they can prove to themselves who has sent it.
   *
   * @returns the binary form, or text where `armor` is asked for
   * @throws TwtxtError `bad-message` for no recipient or more than 64, `bad-key` for a key that is none
   * @see PROTOCOL 3.2
   * @example open(seal(plaintext, { sender: alice, recipients: [bob.publicKey] }), { key: bob }).plaintext
   */
  seal(plaintext: Uint8Array, options: SealOptions & { armor: true }): string;
  seal(plaintext: Uint8Array, options: SealOptions & { armor?: false }): Uint8Array;
  seal(plaintext: Uint8Array, options: SealOptions): Uint8Array | string;
  /**
   * Opens a message, all of it or nothing.
   *
   * @param message - text is armored; bytes are either
   * @param options - `key` as the `sender` of `seal`
   * @throws TwtxtError `bad-armor`, `bad-message` for what is not exactly in the format; `not-a-recipient`;
   *   `not-authentic`; `bad-key` where one's own key is none
   * @see PROTOCOL 3.2
   */
  open(message: Uint8Array | string, options: { key: Uint8Array | SecretKey }): Opened;
  /**
   * Prepares a key that is used more than once.
   *
   * @param pair - 64 bytes, a seed of 32 and its public key, which may be wiped thereafter
   * @throws TwtxtError `bad-key` where the halves do not belong together
   */
  secretKey(pair: Uint8Array): SecretKey;
}

/** @param random - asked for what nobody must guess */
export function saltpackOn(primitives: Primitives, random: Random): Saltpack {
  function prepared(key: Uint8Array | SecretKey): SecretKey {
    return key instanceof Uint8Array ? secretKey(key) : key;
  }

  function secretKey(pair: Uint8Array): SecretKey {
    if (pair.length !== 2 * KEY_BYTES) {
      throw new TwtxtError("bad-key", `A secret key has ${2 * KEY_BYTES} bytes, not ${pair.length}.`);
    }
    const key = primitives.secretKey(pair.subarray(0, KEY_BYTES));
    if (equalBytes(key.publicKey, pair.subarray(KEY_BYTES))) return key;
    throw new TwtxtError("bad-key", "The halves of the secret key do not belong together.");
  }

  function seal(plaintext: Uint8Array, options: SealOptions & { armor: true }): string;
  function seal(plaintext: Uint8Array, options: SealOptions & { armor?: false }): Uint8Array;
  function seal(plaintext: Uint8Array, { sender, recipients, armor: asText }: SealOptions): Uint8Array | string {
    // The order in which somebody named them is nobody's business.
    const inAnyOrder = shuffled(different(recipients), random);
    const bytes = sealInOrder(plaintext, { sender: prepared(sender), recipients: inAnyOrder, random }, primitives);
    return asText ? armor(bytes) : bytes;
  }

  function open(message: Uint8Array | string, { key }: { key: Uint8Array | SecretKey }): Opened {
    const isText = typeof message === "string" || isArmored(message);
    return openBinary(isText ? dearmor(message) : message, prepared(key), primitives);
  }

  return { seal, open, secretKey };
}

function different(recipients: readonly Uint8Array[]): Uint8Array[] {
  const keys = [...new Map(recipients.map((key) => [key.join(), key])).values()];
  if (keys.length >= 1 && keys.length <= MAX_RECIPIENTS) return keys;
  throw new TwtxtError("bad-message", `A message is sealed to 1 to ${MAX_RECIPIENTS} recipients, not ${keys.length}.`);
}
