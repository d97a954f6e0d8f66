// plugin/cli/keys.ts: `eleventy-twtxt keys` makes, shows, imports and backs up private keys.
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { formatTimestamp } from "../feed/timestamp.js";
import { parseAddress } from "../keys/address.js";
import {
  backUpIdentity,
  createIdentity,
  importIdentity,
  type KeptIdentity,
  listIdentities,
  loadIdentity,
  type NewIdentity,
  type PlaceChoice,
} from "../keys/identity.js";
import { misuse, nearestOf, PROGRAM, readArguments } from "./command.js";
import { identityPlaces } from "./data-folder.js";
import type { Terminal } from "./terminal.js";

export const name = "keys";
export const summary = "makes, shows and backs up the key of your address";
export const help = `Usage: eleventy-twtxt keys create ADDRESS [options]
       eleventy-twtxt keys show [ADDRESS] [--json]
       eleventy-twtxt keys import FILE [options]
       eleventy-twtxt keys backup ADDRESS FILE

Your address is NICK@DOMAIN of your site. With its private key you read your messages, manage your
mentions and keep your blobs; the public key, kex1..., stands in the configuration of your site.

  create    makes a key and keeps it in the system keychain, or else in a file that only you can read
  show      prints addresses, public keys and where the private ones are kept
  import    keeps the key of an identity file, from a backup or from another program
  backup    copies a key into a new identity file, for a place that only you can get at

The private key is never printed, and never written over another one of that address.

  --file        keeps it in a file, even where the system has a keychain
  --keychain    keeps it in the system keychain, or not at all
  --json        prints address, public key and place as JSON

Example:
  $ eleventy-twtxt keys create alice@alice.example
  kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg`;

const JSON_OPTION = { json: { type: "boolean" } } as const;
const NEW_OPTIONS = { ...JSON_OPTION, file: { type: "boolean" }, keychain: { type: "boolean" } } as const;

const ACTIONS = new Map<string, (args: string[], terminal: Terminal) => Promise<number>>([
  ["create", create],
  ["show", show],
  ["import", importFile],
  ["backup", backUp],
]);

export async function run([word = "", ...args]: string[], terminal: Terminal): Promise<number> {
  const action = ACTIONS.get(word);
  if (action) return action(args, terminal);
  const nearest = nearestOf(word, [...ACTIONS.keys()]);
  const hint = nearest ? `Did you mean "${nearest}"?` : `Say ${[...ACTIONS.keys()].join(", ")}.`;
  throw misuse(`keys: ${word === "" ? "it needs to know what to do." : `there is no "${word}".`} ${hint}`, name);
}

async function create(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("keys create", args, NEW_OPTIONS);
  const [address = ""] = expectWords("keys create", positionals, ["ADDRESS"]);
  const key = { seed: randomBytes(32), address: checkAddress(address), created: formatTimestamp(terminal.now()) };
  tellNew(await createIdentity(key, identityPlaces(terminal), choiceOf(values)), values.json, terminal);
  return 0;
}

async function importFile(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("keys import", args, NEW_OPTIONS);
  const [file = ""] = expectWords("keys import", positionals, ["FILE"]);
  const source = resolve(terminal.folder, file);
  tellNew(await importIdentity(source, identityPlaces(terminal), choiceOf(values)), values.json, terminal);
  terminal.say(`${file} is as it was: keep it where only you can get at it, or delete it.`);
  return 0;
}

async function show(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("keys show", args, JSON_OPTION);
  const places = identityPlaces(terminal);
  if (positionals.length > 0) {
    const [address = ""] = expectWords("keys show", positionals, ["ADDRESS"]);
    print([await loadIdentity(checkAddress(address), places)], values.json, terminal);
    return 0;
  }
  const { kept, faults } = await listIdentities(places);
  print(kept, values.json, terminal);
  for (const fault of faults) terminal.say(fault);
  if (kept.length === 0) terminal.say(`No key was found. To make one, type: ${PROGRAM} keys create ADDRESS`);
  return 0;
}

async function backUp(args: string[], terminal: Terminal): Promise<number> {
  const { positionals } = readArguments("keys backup", args, {});
  const [address = "", file = ""] = expectWords("keys backup", positionals, ["ADDRESS", "FILE"]);
  const target = resolve(terminal.folder, file);
  await backUpIdentity(checkAddress(address), target, identityPlaces(terminal));
  terminal.print(file);
  terminal.say(`Whoever has this file can sign and read as you. It comes back with ${PROGRAM} keys import ${file}`);
  return 0;
}

function expectWords(command: string, words: string[], expected: string[]): string[] {
  if (words.length === expected.length) return words;
  throw misuse(`${command}: expected ${expected.join(" and ")}.`, name);
}

function checkAddress(text: string): string {
  const address = parseAddress(text);
  if (address !== null) return address;
  throw misuse(`keys: expected an address such as alice@alice.example, got "${text}".`, name);
}

function choiceOf({ file, keychain }: { file?: boolean; keychain?: boolean }): PlaceChoice {
  if (file && keychain) throw misuse("keys: --file and --keychain exclude each other.", name);
  return file ? "file" : keychain ? "keychain" : undefined;
}

function tellNew(key: NewIdentity, isJson: boolean | undefined, terminal: Terminal): void {
  const { identity, keychainFault } = key;
  const { address, publicKey } = identity;
  terminal.print(isJson ? JSON.stringify(publicFacts(key)) : publicKey);
  if (keychainFault !== null) {
    terminal.say(`The system keychain could not be used: ${keychainFault}.`);
    terminal.say(`Should it hold a key of ${address} all the same, that one is left as it is.`);
  }
  terminal.say(`The private key of ${address} is in ${placeOf(key)}.`);
  terminal.say(
    `Put this line into the options of the plugin, in the configuration of your site:\n  key: "${publicKey}",`,
  );
  terminal.say(
    `Without the private key nobody can read what is sent to you. Make a copy for a safe place, such as a stick in a drawer:
  ${PROGRAM} keys backup ${address} FILE`,
  );
}

function print(keys: KeptIdentity[], isJson: boolean | undefined, terminal: Terminal): void {
  if (isJson) terminal.print(JSON.stringify(keys.map(publicFacts)));
  else for (const key of keys) terminal.print(`${key.identity.address}  ${key.identity.publicKey}  ${placeOf(key)}`);
}

/** What `--json` says of a key: all of it may be known to everybody. */
function publicFacts({ identity: { address, publicKey, created }, file }: KeptIdentity) {
  return { address, key: publicKey, created, file };
}

function placeOf({ file }: KeptIdentity): string {
  return file ?? "the system keychain";
}
