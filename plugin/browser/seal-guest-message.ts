// plugin/browser/seal-guest-message.ts: seals a message of a reader to an author.
import { decodeKey, formatMessage, seal } from "../messages/browser.js";
import { nameEvent } from "../messages/name.js";
import { guestAddress, keyOf } from "./guest-key.js";

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
  const key = keyOf(seed);
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
