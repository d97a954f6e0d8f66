// plugin/cli/author.ts: whose messages and contacts a command works on.

import { join } from "node:path";
import { TwtxtError } from "../errors.js";
import { parseAddress } from "../keys/address.js";
import { listIdentities, loadIdentity } from "../keys/identity.js";
import type { Identity } from "../keys/identity-text.js";
import type { SiteSettings } from "../site/site.js";
import { FileStore } from "../store/file.js";
import type { Store } from "../store/store.js";
import { misuse } from "./command.js";
import { dataFolder, identityPlaces } from "./data-folder.js";
import { typed } from "./invocation.js";
import { IDENTITY_OPTION, ownIdentity } from "./own-identity.js";
import { siteAt } from "./site.js";
import type { Terminal } from "./terminal.js";

/** The options of all these commands, for `readArguments`. */
export const AUTHOR_OPTIONS = { as: { type: "string" }, ...IDENTITY_OPTION } as const;

/** Somebody whose private key is on this machine. */
export interface Author {
  /** `user@domain`, by which others know the author. */
  address: string;
  identity: Identity;
  /** The inbox, as the site here has it; `null` where there is none here. */
  endpoint: string | null;
  /** What this machine keeps for the author: contacts, outbox, copies. */
  store: Store;
}

type Values = Partial<Record<"as" | "identity" | "settings", string | undefined>>;
type SiteAuthor = SiteSettings["authors"][number];

/**
 * Finds the author: whose identity file was given, else of the site here, else whoever has the only key of this machine.
 *
 * @param command - the name of the command, for its messages
 * @throws TwtxtError `no-identity`, `bad-identity`; `bad-usage` where there are several and none was chosen
 */
export async function authorAt(values: Values, terminal: Terminal, command: string): Promise<Author> {
  const chosen = await choose(values, terminal, command);
  return { ...chosen, store: storeOf(chosen.address, terminal) };
}

type Chosen = Omit<Author, "store">;

async function choose(values: Values, terminal: Terminal, command: string): Promise<Chosen> {
  const wanted = values.as === undefined ? null : addressOf(values.as, command);
  const all = await authorsHere(values.settings, terminal);
  const authors = all.filter(({ address }) => wanted === null || address === wanted);
  if (values.identity !== undefined) {
    const identity = await ownIdentity(terminal, { keys: [], file: values.identity });
    const known = authors.find(({ key }) => key === identity.publicKey);
    return { identity, address: known?.address ?? wanted ?? identity.address, endpoint: known?.endpoint ?? null };
  }
  if (authors.length > 0) return ofSite(authors, terminal, command);
  return ofMachine(wanted, terminal, command);
}

function addressOf(text: string, command: string): string {
  const address = parseAddress(text);
  if (address !== null) return address;
  throw misuse(`${command}: --as is an address of your own such as alice@alice.example, got "${text}".`, command);
}

/** Who has a key need not have a site. */
async function authorsHere(settings: string | undefined, terminal: Terminal): Promise<SiteAuthor[]> {
  try {
    return (await siteAt(terminal, settings)).settings.authors;
  } catch (error) {
    if (settings === undefined && error instanceof TwtxtError && error.code === "no-settings") return [];
    throw error;
  }
}

/** Of several authors, the one whose key is here: the others write from machines of their own. */
async function ofSite(authors: SiteAuthor[], terminal: Terminal, command: string): Promise<Chosen> {
  const identity = await ownIdentity(terminal, { keys: authors.map(({ key }) => key), file: undefined });
  if (authors.length > 1) {
    const { kept } = await listIdentities(identityPlaces(terminal));
    const keys = kept.map((one) => one.identity.publicKey);
    const here = authors.filter(({ key }) => keys.includes(key));
    if (here.length > 1) throw several(here, command);
  }
  const { address = identity.address, endpoint = null } = authors.find(({ key }) => key === identity.publicKey) ?? {};
  return { identity, address, endpoint };
}

async function ofMachine(wanted: string | null, terminal: Terminal, command: string): Promise<Chosen> {
  const places = identityPlaces(terminal);
  if (wanted !== null) {
    return { identity: (await loadIdentity(wanted, places)).identity, address: wanted, endpoint: null };
  }
  const { kept, faults } = await listIdentities(places);
  const [only, ...others] = kept.map(({ identity }) => identity);
  if (only && others.length === 0) return { identity: only, address: only.address, endpoint: null };
  if (only) throw several([only, ...others], command);
  const why = faults.map((fault) => ` ${fault}`).join("");
  throw new TwtxtError(
    "no-identity",
    `There is no key on this machine. Make one with \`${typed("keys create ADDRESS")}\`, or name its file with --identity FILE.${why}`,
  );
}

function several(authors: readonly { address: string }[], command: string): TwtxtError {
  const addresses = authors.map(({ address }) => address).join(" or ");
  return misuse(`${command}: this machine has several keys. Say with --as ADDRESS whose: ${addresses}.`, command);
}

/** No name of a file on Windows holds a ":", and no address a "+". */
function storeOf(address: string, terminal: Terminal): Store {
  return new FileStore(join(dataFolder(terminal), "messages", address.replaceAll(":", "+")));
}
