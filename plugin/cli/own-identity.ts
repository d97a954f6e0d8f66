// plugin/cli/own-identity.ts: the author's own private key, for all commands that sign or open something.

import { resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { listIdentities, readIdentity } from "../keys/identity.js";
import type { Identity } from "../keys/identity-text.js";
import { identityPlaces } from "./data-folder.js";
import { typed } from "./invocation.js";
import type { Terminal } from "./terminal.js";

/** The option of all these commands, for `readArguments`. */
export const IDENTITY_OPTION = { identity: { type: "string" } } as const;

/**
 * Finds the identity by which the author of this site acts.
 *
 * @param keys - the public keys of the site's authors
 * @param file - what `--identity` says: this one then, whatever the site knows
 * @throws TwtxtError `no-identity` where there is none of these; `bad-identity` for a file that is not in order
 */
export async function ownIdentity(
  terminal: Terminal,
  { keys, file }: { keys: readonly string[]; file: string | undefined },
): Promise<Identity> {
  if (file !== undefined) return (await readIdentity({ file: resolve(terminal.folder, file) })).identity;
  if (keys.length === 0) {
    throw new TwtxtError(
      "no-identity",
      `The site knows no key of yours. Make one with \`${typed("keys create")}\`, give it to the site as the option "key", build and deploy.`,
    );
  }
  const { kept, faults } = await listIdentities(identityPlaces(terminal));
  const found = kept.find(({ identity }) => keys.includes(identity.publicKey));
  if (found) return found.identity;
  const why = faults.map((fault) => ` ${fault}`).join("");
  throw new TwtxtError(
    "no-identity",
    `The private key of ${keys.join(" or ")} is not on this machine. A file that holds it is given by --identity FILE.${why}`,
  );
}
