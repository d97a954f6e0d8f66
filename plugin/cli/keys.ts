// plugin/cli/keys.ts: `eleventy-twtxt keys` creates, shows, backs up and restores private keys.
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { identityPlaces } from "../author/files.js";
import { misuse, typed } from "../author/invocation.js";
import { ifBuilt, loadSite } from "../author/site.js";
import { formatTimestamp } from "../feed/timestamp.js";
import {
  copyIdentity,
  createIdentity,
  importIdentity,
  listIdentities,
  loadIdentity,
  type NewIdentity,
  readIdentity,
  retireIdentity,
  type StoredIdentity,
  wordsOfIdentity,
} from "../keys/identity.js";
import type { IdentityLocation } from "../keys/places.js";
import { countWords, seedOfWords, WORDS } from "../keys/words.js";
import { actionsWith, toCommand } from "./command.js";
import {
  address,
  FILE,
  flag,
  IDENTITY_OPTION,
  JSON_OPTION,
  one,
  oneAndOptional,
  option,
  optional,
  SETTINGS_OPTION,
  type ValuesOf,
} from "./options.js";
import type { Terminal } from "./terminal.js";

const ADDRESS = address("alice@alice.example");
const NEW_KEY_OPTIONS = {
  file: option(FILE, "stores the new key in this file, and nowhere else"),
  keychain: flag("stores the new key in the system keychain, or fails"),
  ...JSON_OPTION,
  ...SETTINGS_OPTION,
};
const EXISTING_KEY_OPTIONS = { ...IDENTITY_OPTION, ...SETTINGS_OPTION };

type NewKeyValues = ValuesOf<typeof NEW_KEY_OPTIONS>;

const newKey = actionsWith(NEW_KEY_OPTIONS);
const existingKey = actionsWith(EXISTING_KEY_OPTIONS);

export const keys = toCommand({
  name: "keys",
  summary: "creates, shows and backs up the key of your address",
  about:
    "Your address is NICK@DOMAIN of your site. With its private key you read your messages, moderate your mentions and store your blobs; the public key, kex1..., is in the configuration of your site. Only backup prints the private key, and no command overwrites it.",
  actions: {
    create: newKey({
      usage: "[ADDRESS] [options]",
      help: "creates a key, and stores it in the system keychain, or else in a file that only you can read. Without ADDRESS, it is for the address of the site in this folder",
      options: {
        replace: flag(
          "replaces your key. The old one is moved to a file, and messages that were sealed to it can still be read. Others see that your key has changed",
        ),
      },
      words: optional(ADDRESS),
      async run(values, given, terminal) {
        const address = given ?? (await addressOfSite(values.settings, terminal));
        const place = newLocation(values, terminal);
        if (values.replace) await retire(address, place.location, terminal);
        const key = { seed: randomBytes(32), address, created: formatTimestamp(terminal.now()) };
        await storeKey(key, place, values, terminal);
        const where = values.file === undefined ? "" : ` --identity ${values.file}`;
        terminal.say(`If you lose the private key, no one can read the messages that were sent to you. Write it down, or copy it to a safe place:
  ${typed(`keys backup ${address}${where}`)}
  ${typed(`keys backup ${address} FILE${where}`)}`);
        return 0;
      },
    }),
    show: existingKey({
      usage: "[ADDRESS] [--identity FILE] [--json]",
      help: "prints addresses, public keys, and where the private ones are stored",
      options: JSON_OPTION,
      words: optional(ADDRESS),
      async run({ identity, json }, wanted, terminal) {
        const { identities, faults } = await findIdentities(chooseLocation(identity, terminal), wanted);
        if (json) terminal.print(JSON.stringify(identities.map(publicFacts)));
        else {
          const rows = identities.map((key) => [key.identity.address, key.identity.publicKey, describePlace(key)]);
          for (const row of rows) terminal.print(row.join("  "));
        }
        for (const fault of faults) terminal.say(fault);
        if (identities.length === 0) {
          terminal.say(`No key was found. To create one, type: ${typed("keys create ADDRESS")}`);
        }
        return 0;
      },
    }),
    backup: existingKey({
      usage: "ADDRESS [FILE] [--identity FILE]",
      help: "shows the private key as 24 words to write down, on a terminal only, or copies it into a new FILE; keep it where only you can read it",
      words: oneAndOptional(ADDRESS, FILE),
      async run({ identity }, [address, file], terminal) {
        const location = chooseLocation(identity, terminal);
        if (file === null) return showWords(address, location, terminal);
        await copyIdentity(address, resolve(terminal.folder, file), location);
        terminal.print(file);
        terminal.say(
          `Anyone who has this file can sign and read as you. To restore it, type: ${typed(`keys import ${file}`)}`,
        );
        return 0;
      },
    }),
    restore: newKey({
      usage: "ADDRESS [options]",
      help: "stores the key of 24 words, which it reads from standard input or asks for",
      words: one(ADDRESS),
      async run(values, address, terminal) {
        const place = newLocation(values, terminal);
        const words = (await terminal.readInput()) ?? (await terminal.readSecret(promptAfter));
        if (words === null) {
          terminal.say("Nothing was restored.");
          return 1;
        }
        await storeKey({ seed: seedOfWords(words), address, created: null }, place, values, terminal);
        return 0;
      },
    }),
    import: newKey({
      usage: "FILE [options]",
      help: "stores the key of an identity file, from a backup or from another program",
      words: one(FILE),
      async run(values, file, terminal) {
        const { location, isKeychainOnly } = newLocation(values, terminal);
        report(await importIdentity(resolve(terminal.folder, file), location, isKeychainOnly), values, terminal);
        terminal.say(`${file} was not changed: store it where only you can read it, or delete it.`);
        return 0;
      },
    }),
  },
  shared: { ...NEW_KEY_OPTIONS, ...EXISTING_KEY_OPTIONS },
  example: `$ eleventy-twtxt keys create alice@alice.example
kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg`,
});

async function addressOfSite(settings: string | undefined, terminal: Terminal): Promise<string> {
  const site = await ifBuilt(settings, loadSite(terminal, settings));
  const address = site?.settings.address;
  if (address) return address;
  const why = site ? "the nick of your site cannot be part of one" : "the site in this folder was not built yet";
  const example = typed("keys create alice@alice.example");
  throw misuse("keys create", `expected an address, since ${why}. Add yours, as in \`${example}\`.`);
}

async function retire(address: string, location: IdentityLocation, terminal: Terminal): Promise<void> {
  if ("file" in location) throw misuse("keys create", "use either --replace or --file.");
  const { file, identity } = await retireIdentity(address, location);
  terminal.say(`The old key is now in ${file}. Messages that were sealed to it can still be read.`);
  terminal.say(
    `If your site has blobs, name the old key in its options, so that their URLs stay: blobs: { formerKeys: ["${identity.publicKey}"] }. After the next build, ${typed("blob move")} moves them to the new key.`,
  );
}

/** The prompt for the next words; `null` once all are there. */
function promptAfter(typedWords: string): string | null {
  const count = countWords(typedWords);
  if (count >= WORDS) return null;
  return count === 0
    ? `Type the ${WORDS} words, in one line or several; they are not shown: `
    : `${count} of ${WORDS} words so far; the next ones: `;
}

/** Stores a key, clears its seed, and tells where the key is. */
async function storeKey(
  key: Parameters<typeof createIdentity>[0],
  { location, isKeychainOnly }: ReturnType<typeof newLocation>,
  values: NewKeyValues,
  terminal: Terminal,
): Promise<void> {
  const stored = await createIdentity(key, location, isKeychainOnly).finally(() => key.seed.fill(0));
  report(stored, values, terminal);
}

function newLocation({ file, keychain }: NewKeyValues, terminal: Terminal) {
  if (file !== undefined && keychain) throw misuse("keys", "use either --file or --keychain.");
  return { location: chooseLocation(file, terminal), isKeychainOnly: keychain };
}

function chooseLocation(file: string | undefined, terminal: Terminal): IdentityLocation {
  return file === undefined ? identityPlaces(terminal) : { file: resolve(terminal.folder, file) };
}

function report(key: NewIdentity, { json, file }: NewKeyValues, terminal: Terminal): void {
  const { identity, keychainFault } = key;
  const { address, publicKey } = identity;
  terminal.print(json ? JSON.stringify(publicFacts(key)) : publicKey);
  if (keychainFault !== null) {
    terminal.say(`The system keychain could not be used: ${keychainFault}.`);
    terminal.say(`If it has a key of ${address}, that key stays there unchanged.`);
  }
  terminal.say(`The private key of ${address} is in ${describePlace(key)}.`);
  if (file !== undefined) terminal.say(`Commands do not look for it there: they need --identity ${file}`);
  terminal.say(`Put these lines into the options of the plugin, in the configuration of your site:
  address: "${address}",
  key: "${publicKey}",`);
}

async function findIdentities(location: IdentityLocation, address: string | null) {
  if (address !== null) return { identities: [await loadIdentity(address, location)], faults: [] };
  if ("file" in location) return { identities: [await readIdentity(location)], faults: [] };
  return listIdentities(location);
}

/** For `--json`. */
function publicFacts({ identity: { address, publicKey, created }, file }: StoredIdentity) {
  return { address, key: publicKey, created, file };
}

function describePlace({ file }: StoredIdentity): string {
  return file ?? "the system keychain";
}

const WORDS_PER_LINE = 4;

async function showWords(address: string, location: IdentityLocation, terminal: Terminal): Promise<number> {
  if (!terminal.isTerminal.stdout) {
    throw misuse("keys backup", "the words are only shown on a terminal. Run it in one, or name a FILE for a copy.");
  }
  const words = await wordsOfIdentity(address, location);
  terminal.say(`These words are the private key of ${address}. Anyone who has them can sign and read as you.
Write them down on paper where no one can watch, and close the window afterwards.
`);
  const numbered = words.map((word, at) => `${String(at + 1).padStart(2)} ${word.padEnd(8)}`);
  for (let at = 0; at < numbered.length; at += WORDS_PER_LINE) {
    const line = numbered.slice(at, at + WORDS_PER_LINE).join("   ");
    terminal.print(line.trimEnd());
  }
  terminal.say(`\nTo restore them, type: ${typed(`keys restore ${address}`)}`);
  return 0;
}
