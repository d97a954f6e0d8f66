// test/helpers/identity.ts: keys for tests.
import { formatIdentity, type Identity, parseIdentity } from "../../plugin/keys/identity.js";

/** @param seed - the 32 bytes of the seed; a number for a seed that repeats this byte */
export function identityOf(seed: number | Uint8Array, user = "alice"): Identity {
  const bytes = typeof seed === "number" ? Buffer.alloc(32, seed) : seed;
  const text = formatIdentity(bytes, { address: `${user}@alice.example`, created: null });
  return parseIdentity(text, "a test key");
}
