// plugin/cli/lookup.ts: `eleventy-twtxt lookup` shows the key and the inbox of an address.

import { authorAt } from "../author/author.js";
import { typed } from "../author/invocation.js";
import { networkOf } from "../author/network.js";
import { TwtxtError } from "../errors.js";
import { type Contact, Contacts } from "../messages/lookup/contacts.js";
import type { Found } from "../messages/lookup/lookup.js";
import { one } from "./arguments.js";
import { command } from "./command.js";
import { AUTHOR_OPTIONS, type AuthorValues, address, HOSTS_OPTION, JSON_OPTION } from "./options.js";
import { tableOf } from "./output.js";
import type { Terminal } from "./terminal.js";

export const lookup = command({
  name: "lookup",
  summary: "shows the key and the inbox of an address",
  usage: "ADDRESS [options]",
  about: `Looks an address up as a sender of messages does. Shows its key, its inbox, the URL that answered ("by DNS" if the domain has no document and DNS names another host), and whether the key is the one that you know. Nothing is stored.`,
  options: { ...JSON_OPTION, ...AUTHOR_OPTIONS, ...HOSTS_OPTION },
  words: one(address("bob@bob.example")),
  example: `$ eleventy-twtxt lookup bob@bob.example
address  bob@bob.example
key      kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg
inbox    https://bob.example/inbox/bob
found    https://bob.example/.well-known/msg/bob.json
contact  the same key, since 2026-11-20`,
  async run(values, address, terminal) {
    const found = await networkOf(values).lookup(address);
    const contact = await contactFor(address, values, terminal);
    if (values.json) terminal.print(JSON.stringify(factsOf(found, contact), null, 2));
    else for (const line of linesOf(found, contact)) terminal.print(line);
    return 0;
  },
});

/** @param contact - the contact with this address; `undefined` if it is not clear whose contacts to search */
export function linesOf({ address, key, endpoint, url, byDns }: Found, contact: Contact | null | undefined): string[] {
  return tableOf([
    ["address", address],
    ["key", key],
    ["inbox", endpoint],
    ["found", `${url}${byDns ? " (by DNS)" : ""}`],
    ...(contact === undefined ? [] : [["contact", contact === null ? "none yet" : comparison(key, contact)]]),
  ]);
}

function comparison(key: string, { key: pinned, since, address }: Contact): string {
  const day = since.slice(0, 10);
  if (pinned === key) return `the same key, since ${day}`;
  return `another key, since ${day}: ${pinned}. Ask over another channel, then type: ${typed(`contacts accept ${address}`)}`;
}

function factsOf({ address, key, endpoint, url, byDns }: Found, contact: Contact | null | undefined) {
  return { address, key, endpoint, url, byDns, pinned: contact ? { key: contact.key, since: contact.since } : null };
}

/**
 * The contact with an address. Addresses can also be looked up without a key, or with several.
 *
 * @returns `null` for no contact; `undefined` if it is not clear whose contacts to search
 */
async function contactFor(
  address: string,
  values: AuthorValues,
  terminal: Terminal,
): Promise<Contact | null | undefined> {
  try {
    const { store } = await authorAt(values, terminal);
    return await new Contacts(store, terminal.now).get(address);
  } catch (error) {
    const isChosen = [values.as, values.identity, values.settings].some((value) => value !== undefined);
    const isUnclear = error instanceof TwtxtError && ["no-identity", "bad-usage"].includes(error.code);
    if (isUnclear && !isChosen) return undefined;
    throw error;
  }
}
