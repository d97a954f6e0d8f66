// plugin/cli/keys.ts: `eleventy-twtxt keys` creates, shows, backs up and restores private keys.
import { resolve } from "node:path";
import {
  copyIdentity,
  listIdentities,
  loadIdentity,
  readIdentity,
  type StoredIdentity,
  wordsOfIdentity,
} from "../keys/identity.js";
import type { IdentityFile, IdentityPlaces } from "../keys/places.js";
import { misuse, one, optional, type Words } from "./arguments.js";
import { actionsWith, commandOf } from "./command.js";
import { identityPlaces } from "./files.js";
import { typed } from "./invocation.js";
import { createKey, importKey, placeOf, publicFacts, restoreKey } from "./new-key.js";
import { address, FILE, flag, IDENTITY_OPTION, JSON_OPTION, option, SETTINGS_OPTION } from "./options.js";
import type { Terminal } from "./terminal.js";

const ADDRESS = address("alice@alice.example");
const REPLACE_OPTION = {
  replace: flag(
    "replaces the key that you have. The old one is moved to a file, so that what was sealed to it can still be read. Others see that your key has changed",
  ),
};
const NEW_KEY_OPTIONS = {
  file: option(FILE, "stores the new key in this file, and nowhere else"),
  keychain: flag("stores the new key in the system keychain, or fails"),
  ...JSON_OPTION,
  ...SETTINGS_OPTION,
};
const KEPT_KEY_OPTIONS = { ...IDENTITY_OPTION, ...SETTINGS_OPTION };

const newKey = actionsWith(NEW_KEY_OPTIONS);
const keptKey = actionsWith(KEPT_KEY_OPTIONS);

interface Copy {
  address: string;
  /** `null` for words on the terminal. */
  file: string | null;
}

const addressAndFile: Words<Copy> = {
  read: (words, where) => ({
    address: one(ADDRESS).read(words.slice(0, 1), where),
    file: optional(FILE).read(words.slice(1), where),
  }),
};

export const keys = commandOf({
  name: "keys",
  summary: "creates, shows and backs up the key of your address",
  about:
    "Your address is NICK@DOMAIN of your site. With its private key you read your messages, moderate your mentions and store your blobs; the public key, kex1..., is in the configuration of your site. The private key is only printed by backup, and never overwritten.",
  actions: {
    create: newKey({
      usage: "[ADDRESS] [options]",
      help: "creates a key, and stores it in the system keychain, or else in a file that only you can read; without ADDRESS for the address of the site in this folder",
      options: REPLACE_OPTION,
      words: optional(ADDRESS),
      run: createKey,
    }),
    show: keptKey({
      usage: "[ADDRESS] [--identity FILE] [--json]",
      help: "prints addresses, public keys, and where the private ones are stored",
      options: JSON_OPTION,
      words: optional(ADDRESS),
      async run({ identity, json }, wanted, terminal) {
        const { kept, faults } = await keptKeys(wanted, placesOf(identity, terminal));
        if (json) terminal.print(JSON.stringify(kept.map(publicFacts)));
        else for (const key of kept) terminal.print(lineOf(key));
        for (const fault of faults) terminal.say(fault);
        if (kept.length === 0) terminal.say(`No key was found. To create one, type: ${typed("keys create ADDRESS")}`);
        return 0;
      },
    }),
    backup: keptKey({
      usage: "ADDRESS [FILE] [--identity FILE]",
      help: "shows the private key as 24 words to write down, on a terminal only, or copies it into a new FILE, for a place that only you can access",
      words: addressAndFile,
      async run({ identity }, { address, file }, terminal) {
        const places = placesOf(identity, terminal);
        if (file === null) return showWords(address, places, terminal);
        await copyIdentity(address, resolve(terminal.folder, file), places);
        terminal.print(file);
        terminal.say(`Anyone with this file can sign and read as you. To restore it: ${typed(`keys import ${file}`)}`);
        return 0;
      },
    }),
    restore: newKey({
      usage: "ADDRESS [options]",
      help: "stores the key of 24 words, which it reads from standard input or asks for",
      words: one(ADDRESS),
      run: restoreKey,
    }),
    import: newKey({
      usage: "FILE [options]",
      help: "stores the key of an identity file, from a backup or from another program",
      words: one(FILE),
      run: importKey,
    }),
  },
  shared: { ...NEW_KEY_OPTIONS, ...KEPT_KEY_OPTIONS },
  example: `$ eleventy-twtxt keys create alice@alice.example
kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg`,
});

type Places = IdentityPlaces | IdentityFile;

async function keptKeys(address: string | null, places: Places): Promise<{ kept: StoredIdentity[]; faults: string[] }> {
  if (address !== null) return { kept: [await loadIdentity(address, places)], faults: [] };
  if ("file" in places) return { kept: [await readIdentity(places)], faults: [] };
  return listIdentities(places);
}

function placesOf(file: string | undefined, terminal: Terminal): Places {
  return file === undefined ? identityPlaces(terminal) : { file: resolve(terminal.folder, file) };
}

function lineOf(key: StoredIdentity): string {
  return `${key.identity.address}  ${key.identity.publicKey}  ${placeOf(key)}`;
}

const WORDS_PER_LINE = 4;

async function showWords(address: string, places: Places, terminal: Terminal): Promise<number> {
  if (!terminal.isTerminal.stdout) {
    throw misuse(
      "keys backup",
      "the words are shown on a terminal only, and this output goes elsewhere. Name a FILE for a copy, or run it in a terminal.",
    );
  }
  const words = await wordsOfIdentity(address, places);
  terminal.say(`These words are the private key of ${address}. Anyone who has them can sign and read as you.
Write them down on paper where no one can watch, and close the window afterwards.
`);
  const numbered = words.map((word, at) => `${String(at + 1).padStart(2)} ${word.padEnd(8)}`);
  for (let at = 0; at < numbered.length; at += WORDS_PER_LINE) {
    const line = numbered.slice(at, at + WORDS_PER_LINE);
    terminal.print(line.join("   ").trimEnd());
  }
  terminal.say(`\nTo restore them: ${typed(`keys restore ${address}`)}`);
  return 0;
}
