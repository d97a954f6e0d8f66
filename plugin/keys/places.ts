// plugin/keys/places.ts: storage of identities: the system keychain, a folder, or one file.
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { TwtxtError } from "../errors.js";
import { parseAddress } from "./address.js";
import type { Keychain } from "./keychain.js";
import { readSecret } from "./secret-file.js";

/** The places where identities are stored. */
export interface IdentityPlaces {
  keychain: Keychain;
  /** The absolute folder of identity files; made when it is needed. */
  folder: string;
}

/** One identity file, instead of the keychain and the folder. */
export interface IdentityFile {
  /** Absolute. */
  file: string;
}

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

/**
 * Finds the identity of an address.
 *
 * @throws TwtxtError `no-identity` if there is none; errors of reading the file
 */
export async function findIdentityText(address: string, places: IdentityPlaces | IdentityFile): Promise<IdentityText> {
  if ("file" in places) return readOwnFile(places.file);
  const { keychain, folder } = places;
  const { answer, fault } = await tryKeychain(() => keychain.read(address));
  if (answer !== null) return { text: answer, file: null };
  const file = fileOf(address, folder);
  const text = await readSecret(file);
  if (text !== null) return { text, file };
  const why = fault === null ? "" : ` ${KEYCHAIN} did not answer: ${fault}.`;
  throw new TwtxtError("no-identity", `There is no key of ${address} on this machine.${why}`);
}

/** @throws TwtxtError `no-identity`; what reading a file throws */
export async function readOwnFile(file: string): Promise<IdentityText> {
  const text = await readSecret(file);
  if (text === null) throw new TwtxtError("no-identity", `There is no identity file ${file}.`);
  return { text, file };
}

/** All addresses that have an identity here, and why the keychain did not answer. */
export async function addressesIn({
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

/** @returns why it could not; `null` where it did, which is looked at */
export async function keepInKeychain(address: string, text: string, keychain: Keychain): Promise<string | null> {
  const { answer, fault } = await tryKeychain(async () => {
    await keychain.write(address, text);
    return keychain.read(address);
  });
  return fault ?? (answer === text ? null : "it did not give back what it was given");
}

/** The file of an address: none holds a "+", and no name of a file on Windows a ":". */
export function fileOf(address: string, folder: string): string {
  return join(folder, `${address.replaceAll(":", "+")}${EXTENSION}`);
}

/** The file of a former key of an address. */
export function formerFileOf(address: string, publicKey: string, folder: string): string {
  return fileOf(`${address}-${publicKey}`, join(folder, FORMER));
}

/** The files of all former keys of an address. */
export async function formerFilesOf(address: string, folder: string): Promise<string[]> {
  const start = basename(formerFileOf(address, "", folder), EXTENSION);
  const names = await readdir(join(folder, FORMER)).catch(() => []);
  return names
    .filter((name) => name.startsWith(start) && name.endsWith(EXTENSION))
    .map((name) => join(folder, FORMER, name));
}

/** Reports a failing keychain as `fault`, because the file may still have the key. */
async function tryKeychain<T>(question: () => Promise<T>): Promise<{ answer: T | null; fault: string | null }> {
  try {
    return { answer: await question(), fault: null };
  } catch (error) {
    const [line = ""] = String(Object(error).message ?? error).split("\n");
    return { answer: null, fault: line.replace(/\.$/, "") };
  }
}
