// plugin/cli/contacts.ts: `eleventy-twtxt contacts` lists the keys of others that are known, and decides about them.
import { TwtxtError } from "../errors.js";
import { parseAddress } from "../keys/address.js";
import { formatKey, parseKey } from "../keys/key.js";
import { Contacts } from "../messages/lookup/contacts.js";
import type { Lookup } from "../messages/lookup/lookup.js";
import { AUTHOR_OPTIONS, authorAt } from "./author.js";
import { misuse, noSuchAction, readArguments } from "./command.js";
import { HOSTS_OPTION, networkOf } from "./looking-up.js";
import type { Terminal } from "./terminal.js";

export const name = "contacts";
export const summary = "lists the keys of others that you know";
export const help = `Usage: eleventy-twtxt contacts [list] [--json]
       eleventy-twtxt contacts accept ADDRESS [KEY]
       eleventy-twtxt contacts forget ADDRESS

The key of an address is kept the first time that you see it, so that a host that is taken over
later does not pass for its owner.

  list      prints addresses, keys, and since when you know them
  accept    takes the key that an address has now in the place of the one that you know: ask its
            owner by another way first. With the KEY that they told you, no other one is taken. One
            that only DNS leads to is not taken in any case
  forget    forgets an address; the next key that you see of it is kept

  --json            prints JSON
  --as ADDRESS      whose contacts, where this machine has the keys of several addresses
  --identity FILE   your key, if it is in a file of your own choice
  --settings FILE   the settings of the site (default .eleventy-twtxt/settings.json)
  --allow-private-host HOST:PORT
                    a host of your own network that may be asked all the same; can be repeated

Example:
  $ eleventy-twtxt contacts
  bob@bob.example  kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg  2026-11-20`;

const OPTIONS = { ...AUTHOR_OPTIONS, ...HOSTS_OPTION, json: { type: "boolean" } } as const;

interface Context {
  /** What the address must have to be accepted, `kex1...`; `null` for whatever it has. */
  key: string | null;
  contacts: Contacts;
  lookup: Lookup;
  isJson: boolean;
  terminal: Terminal;
}

const ACTIONS = new Map<string, (address: string, context: Context) => Promise<number>>([
  ["list", list],
  ["accept", accept],
  ["forget", forget],
]);

export async function run(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(name, args, OPTIONS);
  const [action = "list", ...words] = positionals;
  const act = ACTIONS.get(action);
  if (!act) throw noSuchAction(name, action, [...ACTIONS.keys()]);
  const key = action === "accept" ? keyIn(words.splice(1, 1)) : null;
  const address = action === "list" ? noWord(words) : addressIn(action, words);
  const { lookup } = networkOf(values, name);
  const { store } = await authorAt(values, terminal, name);
  const contacts = new Contacts(store, terminal.now);
  return act(address, { key, contacts, lookup, isJson: values.json ?? false, terminal });
}

async function list(_: string, { contacts, isJson, terminal }: Context): Promise<number> {
  const all = await contacts.list();
  const width = Math.max(0, ...all.map(({ address }) => address.length));
  if (isJson) terminal.print(JSON.stringify(all, null, 2));
  else {
    for (const { address, key, since, byDns } of all) {
      terminal.print(`${address.padEnd(width)}  ${key}  ${since.slice(0, 10)}${byDns ? "  by DNS" : ""}`);
    }
  }
  terminal.say(`${all.length} known.`);
  return 0;
}

async function accept(address: string, { key, contacts, lookup, isJson, terminal }: Context): Promise<number> {
  const old = await contacts.get(address);
  const found = await lookup(address);
  if (key !== null && key !== found.key) {
    throw new TwtxtError("key-changed", `${address} is published with another key, ${found.key}. None was accepted.`);
  }
  const isNew = old?.key !== found.key;
  if (!isJson && old && isNew) terminal.print(`old key  ${old.key}  since ${old.since.slice(0, 10)}`);
  if (!isJson) terminal.print(`${isNew ? "new" : "the"} key  ${found.key}`);
  const accepted = await contacts.accept(found);
  if (isJson) terminal.print(JSON.stringify(accepted, null, 2));
  terminal.say(isNew ? `Accepted for ${address}.` : `This is the key of ${address} that you know.`);
  return 0;
}

async function forget(address: string, { contacts, terminal }: Context): Promise<number> {
  const wasThere = await contacts.forget(address);
  terminal.say(wasThere ? `${address} is forgotten.` : `${address} is not among your contacts.`);
  return wasThere ? 0 : 1;
}

function noWord(words: readonly string[]): string {
  if (words.length === 0) return "";
  throw misuse(`${name}: "list" takes no address.`, name);
}

function addressIn(action: string, words: readonly string[]): string {
  const [word = "", ...others] = words;
  const address = parseAddress(word);
  if (address !== null && others.length === 0) return address;
  throw misuse(`${name}: "${action}" takes one address such as bob@bob.example.`, name);
}

/** @throws TwtxtError `bad-usage` */
function keyIn([word]: readonly string[]): string | null {
  if (word === undefined) return null;
  try {
    return formatKey(parseKey(word));
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    throw misuse(`${name}: "${word}" is no key such as lookup and contacts show them.`, name);
  }
}
