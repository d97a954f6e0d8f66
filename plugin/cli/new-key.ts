// plugin/cli/new-key.ts: `keys create`, `keys restore` and `keys import`: new keys on this machine.
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { formatTimestamp } from "../feed/timestamp.js";
import {
  createIdentity,
  importIdentity,
  type NewIdentity,
  type PlaceChoice,
  restoreIdentity,
  retireIdentity,
  type StoredIdentity,
} from "../keys/identity.js";
import type { IdentityFile, IdentityPlaces } from "../keys/places.js";
import { countWords, WORDS } from "../keys/words.js";
import { misuse } from "./arguments.js";
import { identityPlaces } from "./files.js";
import { typed } from "./invocation.js";
import { siteAt } from "./site.js";
import type { Terminal } from "./terminal.js";

interface Values {
  json: boolean;
  file: string | undefined;
  keychain: boolean;
  settings: string | undefined;
}

/** `keys create [ADDRESS]` */
export async function createKey(
  values: Values & { replace: boolean },
  given: string | null,
  terminal: Terminal,
): Promise<number> {
  const address = given ?? (await addressOfSite(values.settings, terminal));
  const { places, choice } = placeFor(values, terminal);
  if (values.replace) await replace(address, places, terminal);
  const seed = randomBytes(32);
  const created = formatTimestamp(terminal.now());
  const key = await createIdentity({ seed, address, created }, places, choice).finally(() => seed.fill(0));
  showNew(key, values, terminal);
  const where = "file" in places ? ` --identity ${values.file}` : "";
  terminal.say(`If you lose the private key, no one can read what was sent to you. Write it down, or copy it to a safe place:
  ${typed(`keys backup ${address}${where}`)}
  ${typed(`keys backup ${address} FILE${where}`)}`);
  return 0;
}

/** The address of the site here, from its last build. */
async function addressOfSite(settings: string | undefined, terminal: Terminal): Promise<string> {
  const site = await siteAt(terminal, settings).catch((error: unknown) => {
    if (settings === undefined && error instanceof TwtxtError && error.code === "no-settings") return null;
    throw error;
  });
  const address = site?.settings.address;
  if (address) return address;
  const why = site ? "the nick of your site cannot be part of one" : "there is no built site in this folder";
  throw misuse("keys create", `expected an address such as alice@alice.example, since ${why}.`);
}

/** Messages to the former key can still be opened. */
async function replace(address: string, places: IdentityPlaces | IdentityFile, terminal: Terminal): Promise<void> {
  if ("file" in places) throw misuse("keys create", "use either --replace or --file.");
  const { file } = await retireIdentity(address, places);
  terminal.say(`The former key is in ${file}. "message" still opens with it what was sealed to it.`);
  terminal.say('Blobs keep the former key: see "When your key changes" in docs/blobs.md.');
}

/** `keys restore ADDRESS` */
export async function restoreKey(values: Values, address: string, terminal: Terminal): Promise<number> {
  const { places, choice } = placeFor(values, terminal);
  const words = (await terminal.readInput()) ?? (await terminal.readSecret(promptFor));
  if (words === null) {
    terminal.say("Nothing was restored.");
    return 1;
  }
  showNew(await restoreIdentity({ words, address }, places, choice), values, terminal);
  return 0;
}

/** `keys import FILE` */
export async function importKey(values: Values, file: string, terminal: Terminal): Promise<number> {
  const { places, choice } = placeFor(values, terminal);
  showNew(await importIdentity(resolve(terminal.folder, file), places, choice), values, terminal);
  terminal.say(`${file} was not changed: store it where only you can read it, or delete it.`);
  return 0;
}

function placeFor(
  { file, keychain }: Values,
  terminal: Terminal,
): { places: IdentityPlaces | IdentityFile; choice: PlaceChoice } {
  if (file !== undefined && keychain) throw misuse("keys", "use either --file or --keychain.");
  if (file !== undefined) return { places: { file: resolve(terminal.folder, file) }, choice: undefined };
  return { places: identityPlaces(terminal), choice: keychain ? "keychain" : undefined };
}

/** Asks until all words are there. */
function promptFor(typedWords: string): string | null {
  const count = countWords(typedWords);
  if (count >= WORDS) return null;
  return count === 0
    ? `Type the ${WORDS} words, in one line or several; they are not shown: `
    : `${count} of ${WORDS} words so far; the next ones: `;
}

function showNew(key: NewIdentity, { json, file }: Values, terminal: Terminal): void {
  const { identity, keychainFault } = key;
  const { address, publicKey } = identity;
  terminal.print(json ? JSON.stringify(publicFacts(key)) : publicKey);
  if (keychainFault !== null) {
    terminal.say(`The system keychain could not be used: ${keychainFault}.`);
    terminal.say(`If it holds a key of ${address}, that key stays there unchanged.`);
  }
  terminal.say(`The private key of ${address} is in ${placeOf(key)}.`);
  if (file !== undefined) terminal.say(`Commands do not look for it there: they need --identity ${file}`);
  terminal.say(`Put these lines into the options of the plugin, in the configuration of your site:
  address: "${address}",
  key: "${publicKey}",`);
}

/** The public facts of a key, for `--json`. */
export function publicFacts({ identity: { address, publicKey, created }, file }: StoredIdentity) {
  return { address, key: publicKey, created, file };
}

/** Where a key is stored. */
export function placeOf({ file }: StoredIdentity): string {
  return file ?? "the system keychain";
}
