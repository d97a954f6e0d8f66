// plugin/cli/lookup.ts: `eleventy-twtxt lookup` shows what an address leads to.

import { TwtxtError } from "../errors.js";
import { parseAddress } from "../keys/address.js";
import { type Contact, Contacts } from "../messages/lookup/contacts.js";
import type { Found } from "../messages/lookup/lookup.js";
import { AUTHOR_OPTIONS, authorAt } from "./author.js";
import { misuse, readArguments } from "./command.js";
import { typed } from "./invocation.js";
import { HOSTS_OPTION, networkOf } from "./looking-up.js";
import type { Terminal } from "./terminal.js";

export const name = "lookup";
export const summary = "shows the key and the inbox of an address";
export const help = `Usage: eleventy-twtxt lookup ADDRESS [options]

Looks an address up as a sender of messages does: shows its key, its inbox and the URL that has
answered, "by DNS" where the domain itself has nothing and DNS names another host, and whether the
key is the one that you know. Nothing is kept.

  --json            prints JSON
  --as ADDRESS      whose contacts, where this machine has the keys of several addresses
  --identity FILE   your key, if it is in a file of your own choice
  --settings FILE   the settings of the site (default .eleventy-twtxt/settings.json)
  --allow-private-host HOST:PORT
                    a host of your own network that may be asked all the same; can be repeated

Example:
  $ eleventy-twtxt lookup bob@bob.example
  address  bob@bob.example
  key      kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg
  inbox    https://bob.example/inbox/bob
  found    https://bob.example/.well-known/msg/bob.json
  contact  the same key, since 2026-11-20`;

const OPTIONS = { ...AUTHOR_OPTIONS, ...HOSTS_OPTION, json: { type: "boolean" } } as const;

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>["values"];

export async function run(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(name, args, OPTIONS);
  const [word = "", ...others] = positionals;
  const address = parseAddress(word);
  if (address === null || others.length > 0) {
    throw misuse(`${name}: expected one address such as bob@bob.example.`, name);
  }
  const found = await networkOf(values, name).lookup(address);
  const contact = await contactFor(address, values, terminal);
  if (values.json) terminal.print(JSON.stringify(factsOf(found, contact), null, 2));
  else for (const line of linesOf(found, contact)) terminal.print(line);
  return 0;
}

/** @param contact - what is known of the address; `undefined` where it is not clear who wants to know */
export function linesOf({ address, key, endpoint, url, byDns }: Found, contact: Contact | null | undefined): string[] {
  return [
    `address  ${address}`,
    `key      ${key}`,
    `inbox    ${endpoint}`,
    `found    ${url}${byDns ? " (by DNS)" : ""}`,
    ...(contact === undefined ? [] : [`contact  ${contact === null ? "none yet" : comparison(key, contact)}`]),
  ];
}

function comparison(key: string, { key: pinned, since, address }: Contact): string {
  const day = since.slice(0, 10);
  if (pinned === key) return `the same key, since ${day}`;
  return `another key, since ${day}: ${pinned}. Ask by another way, then type: ${typed(`contacts accept ${address}`)}`;
}

function factsOf({ address, key, endpoint, url, byDns }: Found, contact: Contact | null | undefined) {
  return { address, key, endpoint, url, byDns, pinned: contact ? { key: contact.key, since: contact.since } : null };
}

/**
 * What is known of an address. Who has no key yet, or several, can look somebody up all the same.
 *
 * @returns `undefined` where it is not clear whose contacts to look at, `null` where it is none of them
 */
async function contactFor(address: string, values: Values, terminal: Terminal): Promise<Contact | null | undefined> {
  try {
    const { store } = await authorAt(values, terminal, name);
    return await new Contacts(store, terminal.now).get(address);
  } catch (error) {
    const isAsked = [values.as, values.identity, values.settings].some((value) => value !== undefined);
    const isNobody = error instanceof TwtxtError && ["no-identity", "bad-usage"].includes(error.code);
    if (isNobody && !isAsked) return undefined;
    throw error;
  }
}
