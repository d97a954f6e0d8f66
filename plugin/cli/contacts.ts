// plugin/cli/contacts.ts: `eleventy-twtxt contacts` lists the known keys of other people, and accepts or forgets them.

import { authorAt } from "../author/author.js";
import { acceptFound } from "../author/messages/mailbox.js";
import { networkOf } from "../author/network.js";
import { formatKey, parseKey } from "../keys/key.js";
import { Contacts } from "../messages/lookup/contacts.js";
import { one, oneAndOptional } from "./arguments.js";
import { actionsWith, commandOf } from "./command.js";
import { AUTHOR_OPTIONS, address, HOSTS_OPTION, JSON_OPTION, type Kind, type ValuesOf } from "./options.js";
import { tableOf } from "./output.js";
import type { Terminal } from "./terminal.js";

const OPTIONS = { ...JSON_OPTION, ...AUTHOR_OPTIONS, ...HOSTS_OPTION };
const ADDRESS = address("bob@bob.example");

/** `kex1...`, in its canonical form. */
const KEY: Kind<string> = {
  name: "KEY",
  expected: "a public key as lookup and contacts show it",
  parse(value) {
    try {
      return formatKey(parseKey(value));
    } catch {
      return null;
    }
  },
};

type Values = ValuesOf<typeof OPTIONS>;

const action = actionsWith(OPTIONS);

export const contacts = commandOf({
  name: "contacts",
  summary: "lists the keys that you know of other people",
  about:
    "The key of an address is stored the first time you see it, so that someone who takes over the host later cannot pose as its owner.",
  actions: {
    list: action({
      usage: "[--json]",
      help: "prints addresses, keys, and since when you know them",
      run: list,
    }),
    accept: action({
      usage: "ADDRESS [KEY]",
      help: "replaces the key that you know with the current key of the address. First ask its owner over another channel. With the KEY that they gave you, no other key is accepted. A key that was found only through DNS is never accepted",
      words: oneAndOptional(ADDRESS, KEY),
      run: accept,
    }),
    forget: action({
      usage: "ADDRESS",
      help: "forgets an address; the next key that you see for it is stored",
      words: one(ADDRESS),
      run: forget,
    }),
  },
  standard: "list",
  shared: OPTIONS,
  example: `$ eleventy-twtxt contacts
bob@bob.example  kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg  2026-11-20`,
});

async function contactsFor(values: Values, terminal: Terminal): Promise<Contacts> {
  return new Contacts((await authorAt(values, terminal)).store, terminal.now);
}

async function list(values: Values, _: null, terminal: Terminal): Promise<number> {
  const all = await (await contactsFor(values, terminal)).list();
  const rows = all.map(({ address, key, since, byDns }) => [address, key, since.slice(0, 10), byDns ? "by DNS" : ""]);
  if (values.json) terminal.print(JSON.stringify(all, null, 2));
  else for (const line of tableOf(rows)) terminal.print(line);
  terminal.say(`${all.length} known.`);
  return 0;
}

async function accept(values: Values, [address, key]: [string, string | null], terminal: Terminal): Promise<number> {
  const contacts = await contactsFor(values, terminal);
  const old = await contacts.get(address);
  const found = await networkOf(values).lookup(address);
  const accepted = await acceptFound(contacts, found, key);
  const isNew = old?.key !== found.key;
  if (!values.json) {
    if (old && isNew) terminal.print(`old key  ${old.key}  since ${old.since.slice(0, 10)}`);
    terminal.print(`${isNew ? "new" : "the"} key  ${found.key}`);
  }
  if (values.json) terminal.print(JSON.stringify(accepted, null, 2));
  terminal.say(isNew ? `Accepted for ${address}.` : `You already know this key of ${address}.`);
  return 0;
}

async function forget(values: Values, address: string, terminal: Terminal): Promise<number> {
  const wasKnown = await (await contactsFor(values, terminal)).forget(address);
  terminal.say(wasKnown ? `${address} forgotten.` : `${address} is not one of your contacts.`);
  return wasKnown ? 0 : 1;
}
