// plugin/keys/identity.ts: stores private keys in the system keychain, or else in a file that only the owner can read.
import { rm } from "node:fs/promises";
import { ifTwtxtError, orBadFile, TwtxtError } from "../errors.js";
import { toSecretKey } from "./ed25519.js";
import { formatIdentityFile, parseIdentityFile } from "./identity-file.js";
import { formatKey, type SecretKey } from "./key.js";
import {
  findIdentityText,
  formerIdentityFile,
  type IdentityFile,
  type IdentityLocation,
  type IdentityPlaces,
  type IdentityText,
  identityFile,
  KEYCHAIN,
  listAddresses,
  listFormerFiles,
  readIdentityFile,
  removeFromKeychain,
  storeInKeychain,
} from "./places.js";
import { createSecret, readSecret } from "./secret-file.js";
import { wordsOfSeed } from "./words.js";

/** A key pair with its address. The private key cannot be read, and does not appear in JSON or the console. */
export interface Identity extends Pick<SecretKey, "sign" | "agree"> {
  /** `user@domain` */
  readonly address: string;
  /** `kex1...` */
  readonly publicKey: string;
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` if unknown. */
  readonly created: string | null;
}

export interface StoredIdentity {
  identity: Identity;
  /** The identity file; `null` for the system keychain. */
  file: string | null;
}

export interface NewIdentity extends StoredIdentity {
  /** Why it is in a file and not in the keychain; `null` if the keychain has it or was not tried. */
  keychainFault: string | null;
}

/**
 * Writes an identity file, which contains the private key.
 *
 * @param seed - 32 random bytes
 * @param created - `YYYY-MM-DDThh:mm:ssZ`; `null` if unknown
 * @see PROTOCOL 3.1
 */
export function formatIdentity(seed: Uint8Array, { address, created }: Pick<Identity, "address" | "created">): string {
  return formatIdentityFile({ seed, publicKey: toSecretKey(seed).publicKey, address, created });
}

/**
 * Parses an identity file.
 *
 * @param text - see {@link parseIdentityFile}
 * @param name - the file's name for messages, which never quote its content
 * @throws TwtxtError `bad-identity`
 * @see PROTOCOL 3.1
 */
export function parseIdentity(text: string, name: string): Identity {
  const { seed, key, publicKey, address, created } = parseIdentityFile(text, name, toSecretKey);
  seed.fill(0);
  const { sign, agree } = key;
  return { address, publicKey: formatKey(publicKey), created, sign, agree };
}

/**
 * Finds the identity of an address.
 *
 * @throws TwtxtError `no-identity` if there is none; `bad-identity` for an invalid one, such as a file that others can
 *   read
 * @see PROTOCOL 3.1
 */
export async function loadIdentity(address: string, location: IdentityLocation): Promise<StoredIdentity> {
  const { identity, file } = await findIdentity(address, location);
  return { identity, file };
}

/** Reads the identity in a file, whatever its address. @throws TwtxtError as {@link loadIdentity} */
export async function readIdentity({ file }: IdentityFile): Promise<StoredIdentity> {
  return { identity: parseIdentity((await readIdentityFile(file)).text, file), file };
}

/**
 * Lists the identities on this machine.
 *
 * @returns the readable ones, sorted by address, and an error message for each of the others
 */
export async function listIdentities(
  places: IdentityPlaces,
): Promise<{ identities: StoredIdentity[]; faults: string[] }> {
  const { addresses, fault } = await listAddresses(places);
  const faults = fault === null ? [] : [`${KEYCHAIN} did not answer: ${fault}.`];
  const identities: StoredIdentity[] = [];
  for (const address of addresses) {
    const found = await loadIdentity(address, places).catch(ifTwtxtError(({ message }) => message));
    if (typeof found === "string") faults.push(found);
    else identities.push(found);
  }
  return { identities: identities.sort((a, b) => (a.identity.address < b.identity.address ? -1 : 1)), faults };
}

/**
 * Stores the new or restored identity of an address.
 *
 * @param seed - 32 bytes: random ones, or those of the words of an earlier one
 * @param created - `YYYY-MM-DDThh:mm:ssZ`; `null` if unknown: words do not contain it
 * @param isKeychainOnly - whether to fail if the keychain does not work, instead of using a file
 * @throws TwtxtError `bad-identity` if the address already has a key, or the keychain does not work and no file is allowed;
 *   `bad-file` if the file already exists or cannot be written
 */
export function createIdentity(
  { seed, address, created }: { seed: Uint8Array; address: string; created: string | null },
  location: IdentityLocation,
  isKeychainOnly = false,
): Promise<NewIdentity> {
  return storeIdentity(formatIdentity(seed, { address, created }), "The key", location, isKeychainOnly);
}

/**
 * Moves the key of an address to the former keys, which still open old messages. The address can then get a new key.
 *
 * @returns the new place
 * @throws TwtxtError as {@link loadIdentity}; `bad-file`. The key is then not moved
 */
export async function retireIdentity(
  address: string,
  places: IdentityPlaces,
): Promise<StoredIdentity & { file: string }> {
  const { identity, file, text } = await findIdentity(address, places);
  const former = formerIdentityFile(address, identity.publicKey, places.folder);
  // An earlier, interrupted call may have written the same file.
  if ((await readSecret(former)) !== text) await createSecret(former, text);
  if (file === null) await removeFromKeychain(address, places.keychain);
  else await orBadFile(rm(file));
  return { identity, file: former };
}

/** The former keys of an address. @throws TwtxtError `bad-identity` for an invalid one */
export async function formerIdentities(address: string, { folder }: IdentityPlaces): Promise<Identity[]> {
  const files = await listFormerFiles(address, folder);
  return Promise.all(files.map(async (file) => (await readIdentity({ file })).identity));
}

/**
 * Imports an identity file, which may be from another program.
 *
 * @throws TwtxtError as {@link createIdentity}, and `bad-identity` for a file that is invalid or that others can read
 */
export async function importIdentity(
  file: string,
  location: IdentityLocation,
  isKeychainOnly = false,
): Promise<NewIdentity> {
  const text = await readSecret(file);
  if (text === null) throw new TwtxtError("bad-file", `There is no file ${file}.`);
  return storeIdentity(text, file, location, isKeychainOnly);
}

/**
 * Copies an identity into a new file.
 *
 * @throws TwtxtError as {@link loadIdentity}; `bad-file` if the file already exists or cannot be written
 */
export async function copyIdentity(address: string, file: string, location: IdentityLocation): Promise<void> {
  const { text } = await findIdentity(address, location);
  await createSecret(file, text);
}

/** The words of an identity's private key. @throws TwtxtError as {@link loadIdentity} */
export async function wordsOfIdentity(address: string, location: IdentityLocation): Promise<string[]> {
  const { text } = await findIdentity(address, location);
  const { seed } = parseIdentityFile(text, "It", toSecretKey);
  const words = wordsOfSeed(seed);
  seed.fill(0);
  return words;
}

async function storeIdentity(text: string, name: string, location: IdentityLocation, isKeychainOnly: boolean) {
  const identity = parseIdentity(text, name);
  const { address } = identity;
  if ("file" in location) {
    await createSecret(location.file, text);
    return { identity, file: location.file, keychainFault: null };
  }
  const present = await findIdentityText(address, location).catch(ifTwtxtError(() => null, "no-identity"));
  if (present) {
    throw new TwtxtError(
      "bad-identity",
      `${address} already has a key, in ${present.file ?? "the system keychain"}. Nothing was changed. To replace it, type \`keys create ${address} --replace\`.`,
    );
  }
  const keychainFault = await storeInKeychain(address, text, location.keychain);
  if (keychainFault === null) return { identity, file: null, keychainFault };
  if (isKeychainOnly) throw new TwtxtError("bad-identity", `${KEYCHAIN} cannot store the key: ${keychainFault}.`);
  const file = identityFile(address, location.folder);
  await createSecret(file, text);
  return { identity, file, keychainFault };
}

/** Finds an identity and its text, which contains the private key. */
async function findIdentity(address: string, location: IdentityLocation): Promise<StoredIdentity & IdentityText> {
  const { text, file } = await findIdentityText(address, location);
  const name = file ?? KEYCHAIN;
  const identity = parseIdentity(text, name);
  if (identity.address === address) return { identity, file, text };
  throw new TwtxtError("bad-identity", `${name} has the key of ${identity.address}, not of ${address}.`);
}
