// plugin/keys/identity.ts: keeps private keys: in the system keychain, or else in a file that its owner alone can read.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { TwtxtError } from "../errors.js";
import { parseAddress } from "./address.js";
import { formatIdentity, type Identity, parseIdentity } from "./identity-text.js";
import type { Keychain } from "./keychain.js";
import { createSecret, readSecret } from "./secret-file.js";

/** Where identities may be. */
export interface IdentityPlaces {
  keychain: Keychain;
  /** The absolute folder of identity files; made when it is needed. */
  folder: string;
}

/** An identity, and where it is kept. */
export interface KeptIdentity {
  identity: Identity;
  /** The identity file; `null` for the system keychain. */
  file: string | null;
}

/** Which place is wanted for a new one; without a choice, the keychain, and a file where there is none that works. */
export type PlaceChoice = "keychain" | "file" | undefined;

/** A new identity. */
export interface NewIdentity extends KeptIdentity {
  /** Why it is in a file although the keychain was to have it. */
  keychainFault: string | null;
}

const KEYCHAIN = "The system keychain";
const EXTENSION = ".key";

/**
 * Finds the identity of an address.
 *
 * @throws TwtxtError `no-identity` where there is none; `bad-identity` for one that is not in order, such as a file
 *   that others can read
 * @see PROTOCOL 3.1
 */
export async function loadIdentity(address: string, places: IdentityPlaces): Promise<KeptIdentity> {
  return checked(await find(address, places), address);
}

/**
 * All identities of this machine that can be read.
 *
 * @returns them by address, and a line on each that cannot be read
 */
export async function listIdentities(places: IdentityPlaces): Promise<{ kept: KeptIdentity[]; faults: string[] }> {
  const inKeychain = await asked(() => places.keychain.addresses());
  const faults = inKeychain.fault === null ? [] : [`${KEYCHAIN} could not be asked: ${inKeychain.fault}.`];
  const kept: KeptIdentity[] = [];
  for (const address of new Set([...(inKeychain.answer ?? []), ...(await addressesIn(places.folder))])) {
    try {
      kept.push(await loadIdentity(address, places));
    } catch (error) {
      if (!(error instanceof TwtxtError)) throw error;
      faults.push(error.message);
    }
  }
  return { kept: kept.sort((a, b) => (a.identity.address < b.identity.address ? -1 : 1)), faults };
}

async function addressesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith(EXTENSION))
    .map((name) => name.slice(0, -EXTENSION.length).replaceAll("+", ":"))
    .filter((address) => parseAddress(address) === address);
}

/**
 * Makes a key for an address and keeps it.
 *
 * @param seed - 32 random bytes
 * @param created - `YYYY-MM-DDThh:mm:ssZ`
 * @throws TwtxtError `bad-identity` where the address has a key already, or the chosen keychain does not work;
 *   `bad-file` where the file cannot be written
 */
export function createIdentity(
  { seed, address, created }: { seed: Uint8Array; address: string; created: string },
  places: IdentityPlaces,
  choice: PlaceChoice,
): Promise<NewIdentity> {
  return keep(formatIdentity(seed, { address, created }), "The new key", places, choice);
}

/**
 * Keeps the key of an identity file, one of another program too.
 *
 * @throws TwtxtError as {@link createIdentity}, and `bad-identity` for a file that is none or that others can read
 */
export async function importIdentity(file: string, places: IdentityPlaces, choice: PlaceChoice): Promise<NewIdentity> {
  const text = await readSecret(file);
  if (text === null) throw new TwtxtError("bad-file", `There is no file ${file}.`);
  return keep(text, file, places, choice);
}

/**
 * Copies an identity into a new file.
 *
 * @throws TwtxtError as {@link loadIdentity}; `bad-file` where the file is there already, or cannot be written
 */
export async function backUpIdentity(address: string, file: string, places: IdentityPlaces): Promise<void> {
  const found = await find(address, places);
  checked(found, address);
  await createSecret(file, found.text);
}

async function keep(text: string, name: string, places: IdentityPlaces, choice: PlaceChoice): Promise<NewIdentity> {
  const identity = parseIdentity(text, name);
  const { address } = identity;
  const present = await find(address, places).catch(ifNone);
  if (present) {
    throw new TwtxtError(
      "bad-identity",
      `${address} has a key already, in ${present.file ?? "the system keychain"}. It is left as it is.`,
    );
  }
  const keychainFault = choice === "file" ? null : await keepInKeychain(address, text, places.keychain);
  if (choice !== "file" && keychainFault === null) return { identity, file: null, keychainFault };
  if (choice === "keychain") throw new TwtxtError("bad-identity", `${KEYCHAIN} cannot keep the key: ${keychainFault}.`);

  const file = fileOf(address, places.folder);
  await createSecret(file, text);
  return { identity, file, keychainFault };
}

/** @returns why it could not; `null` where it did, which is looked at */
async function keepInKeychain(address: string, text: string, keychain: Keychain): Promise<string | null> {
  const { answer, fault } = await asked(async () => {
    await keychain.write(address, text);
    return keychain.read(address);
  });
  return fault ?? (answer === text ? null : "it did not give back what it was given");
}

async function find(address: string, { keychain, folder }: IdentityPlaces): Promise<Found> {
  const { answer, fault } = await asked(() => keychain.read(address));
  if (answer !== null) return { text: answer, file: null };
  const file = fileOf(address, folder);
  const text = await readSecret(file);
  if (text !== null) return { text, file };
  const why = fault === null ? "" : ` ${KEYCHAIN} could not be asked: ${fault}.`;
  throw new TwtxtError("no-identity", `There is no key of ${address} on this machine.${why}`);
}

/** An identity file's text, and where it was. */
interface Found {
  text: string;
  file: string | null;
}

function ifNone(error: unknown): null {
  if (error instanceof TwtxtError && error.code === "no-identity") return null;
  throw error;
}

function checked({ text, file }: Found, address: string): KeptIdentity {
  const name = file ?? KEYCHAIN;
  const identity = parseIdentity(text, name);
  if (identity.address === address) return { identity, file };
  throw new TwtxtError("bad-identity", `${name} has the key of ${identity.address} in the place of ${address}.`);
}

/** No address holds a "+", and no name of a file on Windows a ":". */
function fileOf(address: string, folder: string): string {
  return join(folder, `${address.replaceAll(":", "+")}${EXTENSION}`);
}

/** A keychain that gives no answer is no error, since there is the file. */
async function asked<T>(question: () => Promise<T>): Promise<{ answer: T | null; fault: string | null }> {
  try {
    return { answer: await question(), fault: null };
  } catch (error) {
    const [line = ""] = String(Object(error).message ?? error).split("\n");
    return { answer: null, fault: line.replace(/\.$/, "") };
  }
}
