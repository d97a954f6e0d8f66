// plugin/browser/guest-key.ts: the key and the address of a reader, and messages that are sealed with the key.
import { decodeKey, encodeKey, formatMessage, type SecretKey, seal, secretKey } from "../messages/browser.js";
import { nameEvent } from "../messages/guest-name.js";
import { noblePrimitives } from "../messages/saltpack/noble-primitives.js";

/** @param seed - 32 bytes */
export function toSecretKey(seed: Uint8Array): SecretKey {
  const { publicKey } = noblePrimitives.secretKey(seed);
  return secretKey(new Uint8Array([...seed, ...publicKey]));
}

/** The address of a guest at the site of this author. PROTOCOL 3.5 @param author - the author's address */
export function guestAddress({ publicKey }: Pick<SecretKey, "publicKey">, author: string): string {
  return `${encodeKey(publicKey)}${author.slice(author.indexOf("@"))}`;
}

interface NewGuestMessage {
  text: string;
  /** As typed; may be empty. */
  name: string;
  /** `YYYY-MM-DDThh:mm:ss.sssZ` */
  time: string;
}

/**
 * Seals a message to an author. The reader can open it, too.
 *
 * @param seed - of the reader's private key
 * @param author - the address and the key `kex1...`
 * @returns armored text
 */
export function sealGuestMessage(
  { text, name, time }: NewGuestMessage,
  seed: Uint8Array,
  author: { address: string; key: string },
): string {
  const key = toSecretKey(seed);
  const named = nameEvent(name);
  const plaintext = formatMessage({
    time: `${time.slice(0, 19)}Z`,
    from: guestAddress(key, author.address),
    text,
    events: named === null ? [] : [named],
  });
  const recipients = [decodeKey(author.key), key.publicKey];
  return seal(new TextEncoder().encode(plaintext), { sender: key, recipients, armor: true });
}
