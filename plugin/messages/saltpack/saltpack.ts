// plugin/messages/saltpack/saltpack.ts: sealing and opening with the primitives of a runtime.
import { equalBytes } from "@noble/ciphers/utils.js";
import { TwtxtError } from "../../errors.js";
import { RecentValues } from "../../groups.js";
import { type SecretKey, toExchangeKey } from "../../keys/key.js";
import { armor, dearmor, isArmored } from "./armor.js";
import type { Primitives, Random } from "./primitives.js";
import { KEY_BYTES, MAX_RECIPIENTS } from "./sealed.js";
import { type Opened, openBinary, sealInOrder } from "./signcryption.js";

/** The number of recipients whose exchange keys are remembered. */
const REMEMBERED_KEYS = 100;

/** The sender, the recipients and the form of a message. */
export interface SealOptions {
  /** 64 bytes, a seed of 32 and its public key; or the result of `secretKey`, which is several times faster. */
  sender: Uint8Array | SecretKey;
  /** 1 to 64 Ed25519 public keys of 32 bytes. Include the sender's own key to keep a readable copy. */
  recipients: readonly Uint8Array[];
  /** Whether to return text, which is 43 percent larger and can be pasted. */
  armor?: boolean;
}

export class Saltpack {
  /** Exchange keys by public key. Converting a key takes as long as two key exchanges. */
  readonly #exchangeKeys = new RecentValues<string, Uint8Array>(REMEMBERED_KEYS);

  /** @param random - cryptographically secure */
  constructor(
    private readonly primitives: Primitives,
    private readonly random: Random,
  ) {}

  /**
   * Seals a message. Only its recipients can read it, and they can verify its sender.
   *
   * @returns the binary form, or text with `armor`
   * @throws TwtxtError `bad-message` for no recipient or more than 64, `bad-key` for an invalid key
   * @see PROTOCOL 3.2
   * @example open(seal(plaintext, { sender: alice, recipients: [bob.publicKey] }), { key: bob }).plaintext
   */
  seal(plaintext: Uint8Array, options: SealOptions & { armor: true }): string;
  seal(plaintext: Uint8Array, options: SealOptions & { armor?: false }): Uint8Array;
  seal(plaintext: Uint8Array, options: SealOptions): Uint8Array | string;
  seal(plaintext: Uint8Array, options: SealOptions): Uint8Array | string {
    const sender = this.#prepared(options.sender);
    // The order of the recipients must not reveal anything.
    const recipients = shuffled(distinct(options.recipients), this.random);
    const exchangeKeys = recipients.map((key) => this.#toExchangeKey(key));
    const bytes = sealInOrder(plaintext, { sender, exchangeKeys, random: this.random }, this.primitives);
    return options.armor ? armor(bytes) : bytes;
  }

  /**
   * Opens a message. If any part of it is invalid, nothing is returned.
   *
   * @param message - armored text, or bytes in either form
   * @param options - `key` as the `sender` of `seal`
   * @throws TwtxtError `bad-armor`, `bad-message` for an invalid format; `not-a-recipient`; `not-authentic`; `bad-key` for
   *   an invalid `key`
   * @see PROTOCOL 3.2
   */
  open(message: Uint8Array | string, { key }: { key: Uint8Array | SecretKey }): Opened {
    const isText = typeof message === "string" || isArmored(message);
    return openBinary(isText ? dearmor(message) : message, this.#prepared(key), this.primitives);
  }

  /**
   * Prepares a key that is used more than once.
   *
   * @param pair - 64 bytes, a seed of 32 and its public key; may be wiped afterwards
   * @throws TwtxtError `bad-key` if the public key is not that of the seed
   */
  secretKey(pair: Uint8Array): SecretKey {
    if (pair.length !== 2 * KEY_BYTES) {
      throw new TwtxtError("bad-key", `A secret key has ${2 * KEY_BYTES} bytes, not ${pair.length}.`);
    }
    const key = this.primitives.secretKey(pair.subarray(0, KEY_BYTES));
    if (equalBytes(key.publicKey, pair.subarray(KEY_BYTES))) return key;
    throw new TwtxtError("bad-key", "The second half of the secret key is not the public key of the first.");
  }

  #toExchangeKey(recipient: Uint8Array): Uint8Array {
    return this.#exchangeKeys.use(recipient.join(), () => {
      const key = toExchangeKey(recipient);
      if (key === null) throw new TwtxtError("bad-key", "A recipient's key is not a valid public key.");
      return key;
    });
  }

  #prepared(key: Uint8Array | SecretKey): SecretKey {
    return key instanceof Uint8Array ? this.secretKey(key) : key;
  }
}

function distinct(recipients: readonly Uint8Array[]): Uint8Array[] {
  const keys = [...new Map(recipients.map((key) => [key.join(), key])).values()];
  if (keys.length >= 1 && keys.length <= MAX_RECIPIENTS) return keys;
  throw new TwtxtError("bad-message", `A message must have 1 to ${MAX_RECIPIENTS} recipients, not ${keys.length}.`);
}

/** Returns the items in random order, with equal probability for each order. @param items - at most 256 */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(randomBelow(left.length, random), 1));
}

/** Rejects bytes beyond the last multiple of the limit, which would make small numbers more likely. */
function randomBelow(limit: number, random: Random): number {
  if (limit === 1) return 0;
  const unbiased = 256 - (256 % limit);
  for (;;) {
    const [byte = 0] = random(1);
    if (byte < unbiased) return byte % limit;
  }
}
