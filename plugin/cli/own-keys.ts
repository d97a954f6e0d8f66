// plugin/cli/own-keys.ts: the author's private keys, for what was sealed to one of them.
import { formerIdentities } from "../keys/identity.js";
import type { Identity } from "../keys/identity-text.js";
import { parseKey, type SecretKey } from "../keys/key.js";
import type { OwnKeys } from "../messages/read/open-with.js";
import type { Author } from "./author.js";
import { identityPlaces } from "./data-folder.js";
import type { Terminal } from "./terminal.js";

/** The key of today, which also signs and seals, and after it those that the address had before. */
export async function ownKeys({ address, identity }: Author, terminal: Terminal): Promise<OwnKeys> {
  const former = await formerIdentities(address, identityPlaces(terminal));
  return [secretKeyOf(identity), ...former.map((one) => secretKeyOf(one.identity))];
}

function secretKeyOf({ publicKey, sign, agree }: Identity): SecretKey {
  return { publicKey: parseKey(publicKey), sign, agree };
}
