// plugin/cli/keys/new-key.ts: `keys create`, `keys restore` and `keys import`: keys that come to this machine.

import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import {
  createIdentity,
  importIdentity,
  type NewIdentity,
  type PlaceChoice,
  restoreIdentity,
  retireIdentity,
} from "../../keys/identity.js";
import type { IdentityFile, IdentityPlaces } from "../../keys/places.js";
import { countWords, WORDS } from "../../keys/words.js";
import { misuse, readArguments } from "../command.js";
import { identityPlaces } from "../data-folder.js";
import { typed } from "../invocation.js";
import { siteAt } from "../site.js";
import type { Terminal } from "../terminal.js";
import { checkAddress, expectWords, JSON_OPTION, placeOf, publicFacts } from "./arguments.js";

const NEW_OPTIONS = { ...JSON_OPTION, file: { type: "string" }, keychain: { type: "boolean" } } as const;

/** `keys create [ADDRESS]` */
export async function create(args: string[], terminal: Terminal): Promise<number> {
  const options = { ...NEW_OPTIONS, replace: { type: "boolean" } } as const;
  const { values, positionals } = readArguments("keys create", args, options);
  const address = positionals.length === 0 ? await addressOfSite(values.settings, terminal) : addressIn(positionals);
  const { places, choice } = placeFor(values, terminal);
  if (values.replace) await replace(address, places, terminal);
  const seed = randomBytes(32);
  const created = formatTimestamp(terminal.now());
  const key = await createIdentity({ seed, address, created }, places, choice).finally(() => seed.fill(0));
  tellNew(key, values, terminal);
  const where = "file" in places ? ` --identity ${values.file}` : "";
  terminal.say(`Without the private key nobody can read what is sent to you. Write it down, or make a copy for a safe place:
  ${typed(`keys backup ${address}${where}`)}
  ${typed(`keys backup ${address} FILE${where}`)}`);
  return 0;
}

function addressIn(words: string[]): string {
  const [word = ""] = expectWords("keys create", words, ["ADDRESS"]);
  return checkAddress(word);
}

/** The address of the site here, as its last build left it. */
async function addressOfSite(settingsFile: string | undefined, terminal: Terminal): Promise<string> {
  const site = await siteAt(terminal, settingsFile).catch((error: unknown) => {
    if (settingsFile === undefined && error instanceof TwtxtError && error.code === "no-settings") return null;
    throw error;
  });
  const address = site?.settings.address;
  if (address) return address;
  const why = site ? "the nick of your site cannot be part of one" : "there is no built site in this folder";
  throw misuse(`keys create: expected an address such as alice@alice.example, since ${why}.`, "keys");
}

/** What was sealed to the key of before can still be opened. */
async function replace(address: string, places: IdentityPlaces | IdentityFile, terminal: Terminal): Promise<void> {
  if ("file" in places) throw misuse("keys create: --replace and --file exclude each other.", "keys");
  const { file } = await retireIdentity(address, places);
  terminal.say(`The key of before is in ${file}, by which "message" still opens what was sealed to it.`);
  terminal.say('Blobs stay with it: docs/blobs.md says under "When your key changes" how they go on being reached.');
}

/** `keys restore ADDRESS` */
export async function restore(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("keys restore", args, NEW_OPTIONS);
  const [word = ""] = expectWords("keys restore", positionals, ["ADDRESS"]);
  const address = checkAddress(word);
  const { places, choice } = placeFor(values, terminal);
  const words = (await terminal.readInput()) ?? (await terminal.readSecret(promptFor));
  if (words === null) {
    terminal.say("Nothing was restored.");
    return 1;
  }
  tellNew(await restoreIdentity({ words, address }, places, choice), values, terminal);
  return 0;
}

/** `keys import FILE` */
export async function importFile(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("keys import", args, NEW_OPTIONS);
  const [file = ""] = expectWords("keys import", positionals, ["FILE"]);
  const { places, choice } = placeFor(values, terminal);
  tellNew(await importIdentity(resolve(terminal.folder, file), places, choice), values, terminal);
  terminal.say(`${file} is as it was: keep it where only you can get at it, or delete it.`);
  return 0;
}

interface Values {
  json?: boolean | undefined;
  file?: string | undefined;
  keychain?: boolean | undefined;
}

function placeFor(
  { file, keychain }: Values,
  terminal: Terminal,
): { places: IdentityPlaces | IdentityFile; choice: PlaceChoice } {
  if (file !== undefined && keychain) throw misuse("keys: --file and --keychain exclude each other.", "keys");
  if (file !== undefined) return { places: { file: resolve(terminal.folder, file) }, choice: undefined };
  return { places: identityPlaces(terminal), choice: keychain ? "keychain" : undefined };
}

/** Asks until there are as many words as there have to be. */
function promptFor(typed: string): string | null {
  const count = countWords(typed);
  if (count >= WORDS) return null;
  return count === 0
    ? `Type the ${WORDS} words, in one line or several; they are not shown: `
    : `${count} of ${WORDS} words so far; the next ones: `;
}

function tellNew(key: NewIdentity, { json, file }: Values, terminal: Terminal): void {
  const { identity, keychainFault } = key;
  const { address, publicKey } = identity;
  terminal.print(json ? JSON.stringify(publicFacts(key)) : publicKey);
  if (keychainFault !== null) {
    terminal.say(`The system keychain could not be used: ${keychainFault}.`);
    terminal.say(`If it holds a key of ${address}, that key stays there unchanged.`);
  }
  terminal.say(`The private key of ${address} is in ${placeOf(key)}.`);
  if (file !== undefined) terminal.say(`It is not looked for there: commands that need it take --identity ${file}`);
  terminal.say(`Put these lines into the options of the plugin, in the configuration of your site:
  address: "${address}",
  key: "${publicKey}",`);
}
