// plugin/messages/libsodium-boxes.ts: secret boxes by libsodium, about twice as fast as JavaScript.
import { type Boxes, nobleBoxes } from "./saltpack/primitives.js";

type Libsodium = Pick<typeof import("libsodium-wrappers"), "crypto_secretbox_easy" | "crypto_secretbox_open_easy">;

/** Loads libsodium, which takes some 10 ms. Its boxes have the same bytes as {@link nobleBoxes}. */
export async function loadLibsodiumBoxes(): Promise<Boxes> {
  const { default: sodium } = await import("libsodium-wrappers");
  await sodium.ready;
  return createBoxes(sodium);
}

function createBoxes(sodium: Libsodium): Boxes {
  return {
    close: (key, nonce, content) => sodium.crypto_secretbox_easy(content, nonce, key),
    open: (key, nonce, box) => {
      try {
        return sodium.crypto_secretbox_open_easy(box, nonce, key);
      } catch {
        return null;
      }
    },
  };
}
