// plugin/cli/keys/kept-key.ts: `keys show` and `keys backup`: keys that there are.

import { resolve } from "node:path";
import {
  copyIdentity,
  listIdentities,
  loadIdentity,
  readIdentity,
  type StoredIdentity,
  wordsOfIdentity,
} from "../../keys/identity.js";
import type { IdentityFile, IdentityPlaces } from "../../keys/places.js";
import { misuse, readArguments } from "../command.js";
import { identityPlaces } from "../data-folder.js";
import { typed } from "../invocation.js";
import { IDENTITY_OPTION } from "../own-identity.js";
import type { Terminal } from "../terminal.js";
import { checkAddress, expectWords, JSON_OPTION, placeOf, publicFacts } from "./arguments.js";

const WORDS_A_LINE = 4;

/** `keys show [ADDRESS]`: public things only. */
export async function show(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("keys show", args, { ...JSON_OPTION, ...IDENTITY_OPTION });
  const places = placesOf(values.identity, terminal);
  if (positionals.length > 0) {
    const [address = ""] = expectWords("keys show", positionals, ["ADDRESS"]);
    print([await loadIdentity(checkAddress(address), places)], values.json, terminal);
    return 0;
  }
  if ("file" in places) {
    print([await readIdentity(places)], values.json, terminal);
    return 0;
  }
  const { kept, faults } = await listIdentities(places);
  print(kept, values.json, terminal);
  for (const fault of faults) terminal.say(fault);
  if (kept.length === 0) terminal.say(`No key was found. To make one, type: ${typed("keys create ADDRESS")}`);
  return 0;
}

/** `keys backup ADDRESS [FILE]`: the one action that shows a private key, and only to a person. */
export async function backUp(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("keys backup", args, IDENTITY_OPTION);
  const places = placesOf(values.identity, terminal);
  if (positionals.length === 1) return showWords(checkAddress(positionals[0] ?? ""), places, terminal);

  const [address = "", file = ""] = expectWords("keys backup", positionals, ["ADDRESS", "perhaps FILE"]);
  await copyIdentity(checkAddress(address), resolve(terminal.folder, file), places);
  terminal.print(file);
  terminal.say(`Anyone with this file can sign and read as you. It comes back with ${typed(`keys import ${file}`)}`);
  return 0;
}

async function showWords(address: string, places: IdentityPlaces | IdentityFile, terminal: Terminal): Promise<number> {
  if (!terminal.isTerminal.stdout) {
    throw misuse(
      "keys backup: the words are shown on a terminal alone, and this output goes elsewhere. Name a FILE for a copy, or run it in a terminal.",
      "keys",
    );
  }
  const words = await wordsOfIdentity(address, places);
  terminal.say(`These words are the private key of ${address}. Whoever has them can sign and read as you.
Write them down on paper, let nobody look on, and close the window afterwards.
`);
  const numbered = words.map((word, at) => `${String(at + 1).padStart(2)} ${word.padEnd(8)}`);
  for (let at = 0; at < numbered.length; at += WORDS_A_LINE) {
    terminal.print(
      numbered
        .slice(at, at + WORDS_A_LINE)
        .join("   ")
        .trimEnd(),
    );
  }
  terminal.say(`\nThey come back with ${typed(`keys restore ${address}`)}`);
  return 0;
}

function placesOf(identityFile: string | undefined, terminal: Terminal): IdentityPlaces | IdentityFile {
  return identityFile === undefined ? identityPlaces(terminal) : { file: resolve(terminal.folder, identityFile) };
}

function print(keys: StoredIdentity[], isJson: boolean | undefined, terminal: Terminal): void {
  if (isJson) terminal.print(JSON.stringify(keys.map(publicFacts)));
  else for (const key of keys) terminal.print(`${key.identity.address}  ${key.identity.publicKey}  ${placeOf(key)}`);
}
