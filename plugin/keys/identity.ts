// plugin/keys/identity.ts: keeps private keys: in the system keychain, or else in a file that its owner alone can read.
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

/** An identity, and where it is kept. */
export interface StoredIdentity {
  identity: Identity;
  /** The identity file; `null` for the system keychain. */
  file: string | null;
}

/** Whether a new one goes into the keychain or nowhere; without a choice, into a file where there is none that works. */
export type PlaceChoice = "keychain" | undefined;

/** A key that an address had before, and the file in which it still is. */
export interface FormerIdentity extends StoredIdentity {
  file: string;
}

/** A new identity. */
export interface NewIdentity extends StoredIdentity {
  /** Why it is in a file although the keychain was to have it. */
  keychainFault: string | null;
}

/**
 * Finds the identity of an address.
 *
 * @throws TwtxtError `no-identity` where there is none; `bad-identity` for one that is not in order, such as a file
 *   that others can read
 * @see PROTOCOL 3.1
 */
export async function loadIdentity(address: string, places: IdentityPlaces | IdentityFile): Promise<StoredIdentity> {
  return checkIdentity(await findIdentityText(address, places), address);
}

/**
 * The identity in a file, whoever's it is.
 *
 * @throws TwtxtError as {@link loadIdentity}
 */
export async function readIdentity({ file }: IdentityFile): Promise<StoredIdentity> {
  return { identity: parseIdentity((await readOwnFile(file)).text, file), file };
}

/**
 * All identities of this machine that can be read.
 *
 * @returns them by address, and a line on each that cannot be read
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
 * Makes a key for an address and keeps it.
 *
 * @param seed - 32 random bytes
 * @param created - `YYYY-MM-DDThh:mm:ssZ`
 * @throws TwtxtError `bad-identity` where the address has a key already, or the chosen keychain does not work;
 *   `bad-file` where the file is there already, or cannot be written
 */
export function createIdentity(
  { seed, address, created }: { seed: Uint8Array; address: string; created: string },
  places: IdentityPlaces | IdentityFile,
  choice?: PlaceChoice,
): Promise<NewIdentity> {
  return storeIdentity(formatIdentity(seed, { address, created }), "The new key", places, choice);
}

/**
 * Puts the key of an address aside, for what was sealed to it: the address may get another one then.
 *
 * @returns where it is now
 * @throws TwtxtError as {@link loadIdentity}; `bad-file`. The key is then where it was
 */
export async function retireIdentity(address: string, places: IdentityPlaces): Promise<FormerIdentity> {
  const found = await findIdentityText(address, places);
  const { identity } = checkIdentity(found, address);
  const file = formerFileOf(address, identity.publicKey, places.folder);
  // What was cut short the last time has left the same file.
  if ((await readSecret(file)) !== found.text) await createSecret(file, found.text);
  if (found.file === null) await places.keychain.remove(address);
  else await removeSecret(found.file);
  return { identity, file };
}

/** The keys that an address had before. @throws TwtxtError `bad-identity` for one that is not in order */
export async function formerIdentities(address: string, { folder }: IdentityPlaces): Promise<FormerIdentity[]> {
  const files = await formerFilesOf(address, folder);
  return Promise.all(files.map(async (file) => ({ ...(await readIdentity({ file })), file })));
}

/**
 * Keeps the key of an address that was written down as words.
 *
 * @param words - as somebody has typed them; they do not say when the key was made
 * @throws TwtxtError as {@link createIdentity}, and `bad-identity` for words that are no key
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
 * Keeps the key of an identity file, one of another program too.
 *
 * @throws TwtxtError as {@link createIdentity}, and `bad-identity` for a file that is none or that others can read
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
 * @throws TwtxtError as {@link loadIdentity}; `bad-file` where the file is there already, or cannot be written
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
