// plugin/keys/places.ts: where identities are stored: in the system keychain, in a folder, or in one file.
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { TwtxtError } from "../errors.js";
import { parseAddress } from "./address.js";
import { readSecret } from "./secret-file.js";

/** The system keychain, and a folder for what it cannot store. */
export interface IdentityPlaces {
  keychain: Keychain;
  /** Absolute; created when it is needed. */
  folder: string;
}

/** One identity file, instead of the keychain and the folder. */
export interface IdentityFile {
  /** Absolute. */
  file: string;
}

export type IdentityLocation = IdentityPlaces | IdentityFile;

/** The text of an identity, and its file: `null` for the system keychain. */
export interface IdentityText {
  text: string;
  file: string | null;
}

/** The keychain's name in messages. */
export const KEYCHAIN = "The system keychain";

const EXTENSION = ".key";
/** Folder of an address's former keys. */
const FORMER = "former";

/** Finds the identity of an address. @throws TwtxtError `no-identity` if there is none; errors of reading the file */
export async function findIdentityText(address: string, location: IdentityLocation): Promise<IdentityText> {
  if ("file" in location) return readIdentityFile(location.file);
  const { keychain, folder } = location;
  const { answer, fault } = await tryKeychain(() => keychain.read(address));
  if (answer !== null) return { text: answer, file: null };
  const file = identityFile(address, folder);
  const text = await readSecret(file);
  if (text !== null) return { text, file };
  const why = fault === null ? "" : ` ${KEYCHAIN} did not answer: ${fault}.`;
  throw new TwtxtError("no-identity", `There is no key of ${address} on this machine.${why}`);
}

/** @throws TwtxtError `no-identity` if there is no such file; errors of reading it */
export async function readIdentityFile(file: string): Promise<IdentityText> {
  const text = await readSecret(file);
  if (text === null) throw new TwtxtError("no-identity", `There is no identity file ${file}.`);
  return { text, file };
}

/** The addresses that have an identity here, and why the keychain did not answer, if it did not. */
export async function listAddresses({
  keychain,
  folder,
}: IdentityPlaces): Promise<{ addresses: Set<string>; fault: string | null }> {
  const { answer, fault } = await tryKeychain(() => keychain.addresses());
  return { addresses: new Set([...(answer ?? []), ...(await addressesOfFiles(folder))]), fault };
}

async function addressesOfFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith(EXTENSION))
    .map((name) => name.slice(0, -EXTENSION.length).replaceAll("+", ":"))
    .filter((address) => parseAddress(address) === address);
}

/** Stores an identity, and reads it back. @returns why that failed; `null` if it did not */
export async function storeInKeychain(address: string, text: string, keychain: Keychain): Promise<string | null> {
  const { answer, fault } = await tryKeychain(async () => {
    await keychain.write(address, text);
    return keychain.read(address);
  });
  return fault ?? (answer === text ? null : "it did not return what was stored");
}

/** The file of an address. A file name on Windows cannot contain ":", and an address cannot contain "+". */
export function identityFile(address: string, folder: string): string {
  return join(folder, `${address.replaceAll(":", "+")}${EXTENSION}`);
}

/** The file of a former key of an address. */
export function formerIdentityFile(address: string, publicKey: string, folder: string): string {
  return identityFile(`${address}-${publicKey}`, join(folder, FORMER));
}

/** The files of all former keys of an address. */
export async function listFormerFiles(address: string, folder: string): Promise<string[]> {
  const start = basename(formerIdentityFile(address, "", folder), EXTENSION);
  const names = await readdir(join(folder, FORMER)).catch(() => []);
  return names
    .filter((name) => name.startsWith(start) && name.endsWith(EXTENSION))
    .map((name) => join(folder, FORMER, name));
}

/** @throws TwtxtError `bad-identity` if the keychain does not work */
export async function removeFromKeychain(address: string, keychain: Keychain): Promise<void> {
  const { fault } = await tryKeychain(() => keychain.remove(address));
  if (fault !== null) throw new TwtxtError("bad-identity", `${KEYCHAIN} cannot remove the key: ${fault}.`);
}

/** Reports a failing keychain as `fault`, because the file may still have the key. */
async function tryKeychain<T>(request: () => Promise<T>): Promise<{ answer: T | null; fault: string | null }> {
  try {
    return { answer: await request(), fault: null };
  } catch (error) {
    const message = String(Object(error).message ?? error);
    if (/D-?Bus error|zbus error|No DBus session/i.test(message)) {
      return { answer: null, fault: "no secret service answers on this machine" };
    }
    const [line = ""] = message.replace(/^Platform failure: /, "").split("\n");
    return { answer: null, fault: line.replace(/\.$/, "") };
  }
}

/** A system keychain, with one text for each address. Methods reject if it does not work or is locked. */
export interface Keychain {
  /** @returns `null` if there is none */
  read(address: string): Promise<string | null>;
  write(address: string, secret: string): Promise<void>;
  remove(address: string): Promise<void>;
  /** The addresses that have a text. */
  addresses(): Promise<string[]>;
}

const SERVICE = "eleventy-twtxt";

/** The system keychain, through an optional package that is loaded on first use. */
export function systemKeychain(): Keychain {
  return {
    read: async (address) => (await (await entry(address)).getPassword()) ?? null,
    write: async (address, secret) => (await entry(address)).setPassword(secret),
    remove: async (address) => void (await (await entry(address)).deletePassword()),
    addresses: async () => {
      const { findCredentialsAsync } = await keyring();
      return (await findCredentialsAsync(SERVICE)).map(({ account }) => account);
    },
  };
}

async function entry(address: string) {
  const { AsyncEntry } = await keyring();
  // Without this, Linux systems without a keychain fall back to the kernel's key ring, which is lost at a restart.
  return new AsyncEntry(SERVICE, address, { linux: { store: "secret-service" } });
}

async function keyring() {
  try {
    return await import("@napi-rs/keyring");
  } catch (cause) {
    throw new Error("the package @napi-rs/keyring is not installed, or not for this system", { cause });
  }
}
