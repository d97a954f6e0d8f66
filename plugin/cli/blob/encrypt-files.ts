// plugin/cli/blob/encrypt-files.ts: seals files, and opens sealed ones. PROTOCOL 4, "Encryption"
import { formatSealedFile, parseSealedFile, type SealedFile } from "../../blobs/client/sealed-file.js";
import { formatKey, parseKey } from "../../keys/key.js";
import { Contacts } from "../../messages/lookup/contacts.js";
import { lookupOnce } from "../../messages/lookup/lookup.js";
import { resolveRecipients } from "../../messages/lookup/recipients.js";
import { type OwnKeys, openWith } from "../../messages/read/open-with.js";
import { seal } from "../../messages/sealing.js";
import { type Author, ownKeys } from "../author.js";
import { networkOf } from "../network.js";
import type { HostsValues } from "../options.js";
import type { Terminal } from "../terminal.js";

/** Sealing and opening need the whole file in memory. In bytes. */
export const MAX_SEALED = 256 * 2 ** 20;

/** Seals a file to the author and its recipients. */
export type SealFile = (file: SealedFile) => Uint8Array;

/**
 * Looks recipients up. Keys that are seen for the first time are pinned.
 *
 * @param to - addresses besides the author's own
 * @throws TwtxtError as `resolveRecipients`
 */
export async function sealingFor(
  to: readonly string[],
  author: Author,
  values: HostsValues,
  terminal: Terminal,
): Promise<SealFile> {
  const [sender] = await ownKeys(author, terminal);
  const contacts = new Contacts(author.store, terminal.now);
  const lookup = lookupOnce(networkOf(values).lookup);
  const resolved = to.length === 0 ? [] : await resolveRecipients(to, { lookup, contacts });
  for (const { found } of resolved) if (found) await contacts.pin(found);
  const recipients = [...resolved.map(({ key }) => parseKey(key)), sender.publicKey];
  return (file) => seal(formatSealedFile(file), { sender, recipients });
}

export interface OpenedFile extends SealedFile {
  /** The key that sealed it, `kex1...`. */
  signer: string;
}

/** @throws TwtxtError as `openWith`, and `bad-message` for a message without a file */
export function openFile(bytes: Uint8Array, keys: OwnKeys): OpenedFile {
  const { plaintext, sender } = openWith(bytes, keys);
  return { ...parseSealedFile(plaintext), signer: formatKey(sender) };
}
