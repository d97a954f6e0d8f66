// plugin/cli/contacts.ts: `eleventy-twtxt contacts` and `lookup`: the keys of other people.
import { loadAuthor } from "../author/author.js";
import { typed } from "../author/invocation.js";
import { acceptKey, Mailbox } from "../author/messages/mailbox.js";
import { createNetwork } from "../author/network.js";
import { TwtxtError } from "../errors.js";
import { canonicalKey } from "../keys/key.js";
import { type Contact, Contacts } from "../messages/lookup/contacts.js";
import type { Found } from "../messages/lookup/lookup.js";
import { actionsWith, command, toCommand } from "./command.js";
import {
  AUTHOR_OPTIONS,
  address,
  HOSTS_OPTION,
  JSON_OPTION,
  type Kind,
  one,
  oneAndOptional,
  type ValuesOf,
} from "./options.js";
import { formatTable, printData, reportOutcome, type Terminal } from "./terminal.js";

const OPTIONS = { ...JSON_OPTION, ...AUTHOR_OPTIONS, ...HOSTS_OPTION };
const ADDRESS = address("bob@bob.example");

/** `kex1...`, in its canonical form. */
const KEY: Kind<string> = {
  name: "KEY",
  expected: "a public key as lookup and contacts show it",
  parse: canonicalKey,
};

type Values = ValuesOf<typeof OPTIONS>;

const action = actionsWith(OPTIONS);

export const contacts = toCommand({
  name: "contacts",
  summary: "lists the keys that you know of other people",
  about:
    "The key of an address is stored the first time you see it, so that someone who takes over the host later cannot pose as its owner.",
  actions: {
    list: action({
      usage: "[--json]",
      help: "prints addresses, keys, and since when you know them",
      async run(values, _, terminal) {
        const all = await (await openMailbox(values, terminal)).contacts.list();
        const rows = all.map(({ address, key, since, byDns }) => {
          return [address, key, since.slice(0, 10), byDns ? "by DNS" : ""];
        });
        printData(all, formatTable(rows), values, terminal);
        terminal.say(`${all.length} known.`);
        return 0;
      },
    }),
    accept: action({
      usage: "ADDRESS [KEY]",
      help: "replaces the key that you know with the current key of the address. First ask its owner over another channel. With the KEY that they gave you, no other key is accepted. A key that was found only through DNS is never accepted",
      words: oneAndOptional(ADDRESS, KEY),
      async run(values, [address, key], terminal) {
        const { contact, old, ...outcome } = await acceptKey(address, key, await openMailbox(values, terminal));
        const isNew = old?.key !== contact.key;
        const before = old && isNew ? [`old key  ${old.key}  since ${old.since.slice(0, 10)}`] : [];
        printData(contact, [...before, `${isNew ? "new" : "the"} key  ${contact.key}`], values, terminal);
        return reportOutcome(outcome, terminal);
      },
    }),
    forget: action({
      usage: "ADDRESS",
      help: "forgets an address; the next key that you see for it is stored",
      words: one(ADDRESS),
      async run(values, address, terminal) {
        const wasKnown = await (await openMailbox(values, terminal)).contacts.forget(address);
        terminal.say(wasKnown ? `${address} forgotten.` : `${address} is not one of your contacts.`);
        return wasKnown ? 0 : 1;
      },
    }),
  },
  standard: "list",
  shared: OPTIONS,
  example: `$ eleventy-twtxt contacts
bob@bob.example  kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg  2026-11-20`,
});

function openMailbox(values: Values, terminal: Terminal): Promise<Mailbox> {
  return Mailbox.open({ ...values, url: undefined }, terminal);
}

export const lookup = command({
  name: "lookup",
  summary: "shows the key and the inbox of an address",
  usage: "ADDRESS [options]",
  about: `Looks an address up as a sender of messages does. Shows its key, its inbox, the URL that answered ("by DNS" if the domain has no document and DNS names another host), and whether the key is the one that you know. Nothing is stored.`,
  options: OPTIONS,
  words: one(ADDRESS),
  example: `$ eleventy-twtxt lookup bob@bob.example
address  bob@bob.example
key      kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg
inbox    https://bob.example/inbox/bob
found    https://bob.example/.well-known/msg/bob.json
contact  the same key, since 2026-11-20`,
  async run(values, address, terminal) {
    const found = await createNetwork(values).lookup(address);
    const contact = await findContact(address, values, terminal);
    const pinned = contact ? { key: contact.key, since: contact.since } : null;
    const { key, endpoint, url, byDns } = found;
    printData({ address, key, endpoint, url, byDns, pinned }, lookupLines(found, contact), values, terminal);
    return 0;
  },
});

/** @param contact - the contact with this address; `undefined` if it is not clear whose contacts to search */
export function lookupLines(
  { address, key, endpoint, url, byDns }: Found,
  contact: Contact | null | undefined,
): string[] {
  return formatTable([
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

/**
 * The contact with an address. Addresses can also be looked up without a key, or with several.
 *
 * @returns `null` for no contact; `undefined` if it is not clear whose contacts to search
 */
async function findContact(address: string, values: Values, terminal: Terminal) {
  try {
    const { store } = await loadAuthor(values, terminal);
    return await new Contacts(store, terminal.now).get(address);
  } catch (error) {
    const isChosen = [values.as, values.identity, values.settings].some((value) => value !== undefined);
    const isUnclear = error instanceof TwtxtError && ["no-identity", "bad-usage"].includes(error.code);
    if (isUnclear && !isChosen) return undefined;
    throw error;
  }
}
