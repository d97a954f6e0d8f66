// plugin/cli/blob/encrypt.ts: seals files to oneself and to others, and opens them. PROTOCOL 4, "Encryption"
import { formatSealedFile, parseSealedFile, type SealedFile } from "../../blobs/client/sealed-file.js";
import { formatKey, parseKey } from "../../keys/key.js";
import { Contacts } from "../../messages/lookup/contacts.js";
import { lookupOnce } from "../../messages/lookup/lookup.js";
import { resolveAll } from "../../messages/lookup/recipients.js";
import { type OwnKeys, openWith } from "../../messages/read/open-with.js";
import { seal } from "../../messages/sealing.js";
import type { Author } from "../author.js";
import { networkOf } from "../looking-up.js";
import { ownKeys } from "../own-keys.js";
import type { OwnSiteValues } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { NAME } from "./owner.js";

/** What is sealed is sealed and opened in memory, in one piece. In bytes. */
export const MAX_SEALED = 256 * 2 ** 20;

/** Seals a file to the author and those whom it is for. */
export type SealFile = (file: SealedFile) => Uint8Array;

/**
 * Looks up whom files are for. Keys that are seen for the first time are pinned.
 *
 * @param to - addresses; the author reads them in any case
 * @throws TwtxtError as `resolveAll`
 */
export async function sealingFor(
  to: readonly string[],
  author: Author,
  values: OwnSiteValues,
  terminal: Terminal,
): Promise<SealFile> {
  const [sender] = await ownKeys(author, terminal);
  const contacts = new Contacts(author.store, terminal.now);
  const lookup = lookupOnce(networkOf(values, NAME).lookup);
  const resolved = to.length === 0 ? [] : await resolveAll(to, { lookup, contacts });
  for (const { found } of resolved) if (found) await contacts.pin(found);
  const recipients = [...resolved.map(({ key }) => parseKey(key)), sender.publicKey];
  return (file) => seal(formatSealedFile(file), { sender, recipients });
}

/** A sealed file that has opened. */
export interface OpenedFile extends SealedFile {
  /** Who has sealed it, `kex1...`. */
  signer: string;
}

/** @throws TwtxtError as `openWith`, and `bad-message` for what holds no file */
export function openFile(bytes: Uint8Array, keys: OwnKeys): OpenedFile {
  const { plaintext, sender } = openWith(bytes, keys);
  return { ...parseSealedFile(plaintext), signer: formatKey(sender) };
}
