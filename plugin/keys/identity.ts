// plugin/keys/identity.ts: stores private keys in the system keychain, or else in a file that only the owner can read.
import { TwtxtError } from "../errors.js";
import { formatIdentity, type Identity, parseIdentity, seedOf } from "./identity-text.js";
import {
  addressesIn,
  fileOf,
  findIdentityText,
  formerFileOf,
  formerFilesOf,
  type IdentityFile,
  type IdentityPlaces,
  type IdentityText,
  KEYCHAIN,
  keepInKeychain,
  readOwnFile,
} from "./places.js";
import { createSecret, readSecret, removeSecret } from "./secret-file.js";
import { seedOfWords, wordsOfSeed } from "./words.js";

/** An identity and its place. */
export interface StoredIdentity {
  identity: Identity;
  /** The identity file; `null` for the system keychain. */
  file: string | null;
}

/** `keychain` allows only the keychain; by default, a file is used if no keychain works. */
export type PlaceChoice = "keychain" | undefined;

/** A former key of an address, and its file. */
export interface FormerIdentity extends StoredIdentity {
  file: string;
}

/** A new identity. */
export interface NewIdentity extends StoredIdentity {
  /** Why it is in a file and not in the keychain. */
  keychainFault: string | null;
}

/**
 * Finds the identity of an address.
 *
 * @throws TwtxtError `no-identity` if there is none; `bad-identity` for an invalid one, such as a file that others can
 *   read
 * @see PROTOCOL 3.1
 */
export async function loadIdentity(address: string, places: IdentityPlaces | IdentityFile): Promise<StoredIdentity> {
  return checkIdentity(await findIdentityText(address, places), address);
}

/**
 * Reads the identity in a file, whatever its address.
 *
 * @throws TwtxtError as {@link loadIdentity}
 */
export async function readIdentity({ file }: IdentityFile): Promise<StoredIdentity> {
  return { identity: parseIdentity((await readOwnFile(file)).text, file), file };
}

/**
 * Lists the identities on this machine.
 *
 * @returns those that can be read, by address, and an error message for each of the others
 */
export async function listIdentities(places: IdentityPlaces): Promise<{ kept: StoredIdentity[]; faults: string[] }> {
  const { addresses, fault } = await addressesIn(places);
  const faults = fault === null ? [] : [`${KEYCHAIN} did not answer: ${fault}.`];
  const kept: StoredIdentity[] = [];
  for (const address of addresses) {
    try {
      kept.push(await loadIdentity(address, places));
    } catch (error) {
      if (!(error instanceof TwtxtError)) throw error;
      faults.push(error.message);
    }
  }
  return { kept: kept.sort((a, b) => (a.identity.address < b.identity.address ? -1 : 1)), faults };
}

/**
 * Creates and stores the identity of an address.
 *
 * @param seed - 32 random bytes
 * @param created - `YYYY-MM-DDThh:mm:ssZ`
 * @throws TwtxtError `bad-identity` if the address already has a key, or the chosen keychain does not work;
 *   `bad-file` if the file already exists or cannot be written
 */
export function createIdentity(
  { seed, address, created }: { seed: Uint8Array; address: string; created: string },
  places: IdentityPlaces | IdentityFile,
  choice?: PlaceChoice,
): Promise<NewIdentity> {
  return storeIdentity(formatIdentity(seed, { address, created }), "The new key", places, choice);
}

/**
 * Moves the key of an address to the former keys, which still open old messages. The address can then get a new key.
 *
 * @returns the new place
 * @throws TwtxtError as {@link loadIdentity}; `bad-file`. The key is then not moved
 */
export async function retireIdentity(address: string, places: IdentityPlaces): Promise<FormerIdentity> {
  const found = await findIdentityText(address, places);
  const { identity } = checkIdentity(found, address);
  const file = formerFileOf(address, identity.publicKey, places.folder);
  // An earlier, interrupted call may have written the same file.
  if ((await readSecret(file)) !== found.text) await createSecret(file, found.text);
  if (found.file === null) await places.keychain.remove(address);
  else await removeSecret(found.file);
  return { identity, file };
}

/** The former keys of an address. @throws TwtxtError `bad-identity` for an invalid one */
export async function formerIdentities(address: string, { folder }: IdentityPlaces): Promise<FormerIdentity[]> {
  const files = await formerFilesOf(address, folder);
  return Promise.all(files.map(async (file) => ({ ...(await readIdentity({ file })), file })));
}

/**
 * Restores the key of an address from its words.
 *
 * @param words - as typed; they do not contain the date of creation
 * @throws TwtxtError as {@link createIdentity}, and `bad-identity` for invalid words
 */
export async function restoreIdentity(
  { words, address }: { words: string; address: string },
  places: IdentityPlaces | IdentityFile,
  choice?: PlaceChoice,
): Promise<NewIdentity> {
  const seed = seedOfWords(words);
  const text = formatIdentity(seed, { address, created: null });
  seed.fill(0);
  return storeIdentity(text, "The key", places, choice);
}

/**
 * Imports an identity file, also of another program.
 *
 * @throws TwtxtError as {@link createIdentity}, and `bad-identity` for a file that is invalid or that others can read
 */
export async function importIdentity(
  file: string,
  places: IdentityPlaces | IdentityFile,
  choice?: PlaceChoice,
): Promise<NewIdentity> {
  const text = await readSecret(file);
  if (text === null) throw new TwtxtError("bad-file", `There is no file ${file}.`);
  return storeIdentity(text, file, places, choice);
}

/**
 * Copies an identity into a new file.
 *
 * @throws TwtxtError as {@link loadIdentity}; `bad-file` if the file already exists or cannot be written
 */
export async function copyIdentity(
  address: string,
  file: string,
  places: IdentityPlaces | IdentityFile,
): Promise<void> {
  const found = await findIdentityText(address, places);
  checkIdentity(found, address);
  await createSecret(file, found.text);
}

/**
 * The words of an identity's private key.
 *
 * @throws TwtxtError as {@link loadIdentity}
 */
export async function wordsOfIdentity(address: string, places: IdentityPlaces | IdentityFile): Promise<string[]> {
  const found = await findIdentityText(address, places);
  checkIdentity(found, address);
  const seed = seedOf(found.text);
  const words = wordsOfSeed(seed);
  seed.fill(0);
  return words;
}

async function storeIdentity(
  text: string,
  name: string,
  places: IdentityPlaces | IdentityFile,
  choice: PlaceChoice,
): Promise<NewIdentity> {
  const identity = parseIdentity(text, name);
  const { address } = identity;
  if ("file" in places) {
    await createSecret(places.file, text);
    return { identity, file: places.file, keychainFault: null };
  }
  const present = await findIdentityText(address, places).catch(ifNone);
  if (present) {
    throw new TwtxtError(
      "bad-identity",
      `${address} has a key already, in ${present.file ?? "the system keychain"}. It is left as it is. \`keys create ${address} --replace\` makes a new one in its place.`,
    );
  }
  const keychainFault = await keepInKeychain(address, text, places.keychain);
  if (keychainFault === null) return { identity, file: null, keychainFault };
  if (choice === "keychain")
    throw new TwtxtError("bad-identity", `${KEYCHAIN} cannot store the key: ${keychainFault}.`);

  const file = fileOf(address, places.folder);
  await createSecret(file, text);
  return { identity, file, keychainFault };
}

function ifNone(error: unknown): null {
  if (error instanceof TwtxtError && error.code === "no-identity") return null;
  throw error;
}

function checkIdentity({ text, file }: IdentityText, address: string): StoredIdentity {
  const name = file ?? KEYCHAIN;
  const identity = parseIdentity(text, name);
  if (identity.address === address) return { identity, file };
  throw new TwtxtError("bad-identity", `${name} has the key of ${identity.address} in the place of ${address}.`);
}
