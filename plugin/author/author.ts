// plugin/author/author.ts: the author whose key a command signs and opens with, and whose messages it works on.
import { lstat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { formerIdentities, type Identity, listIdentities, loadIdentity, readIdentity } from "../keys/identity.js";
import { parseKey, type SecretKey } from "../keys/key.js";
import type { OwnKeys } from "../messages/sealing.js";
import type { SiteSettings } from "../site/site.js";
import { SqliteStore } from "../store/sqlite.js";
import type { Store } from "../store/store.js";
import { DATES } from "./amounts.js";
import { dataFolder, identityPlaces } from "./files.js";
import { typed } from "./invocation.js";
import type { AuthorChoice, Machine } from "./machine.js";
import { ifBuilt, loadSite, type Site } from "./site.js";

/** An author whose private key is on this machine. */
export interface Author {
  /** `user@domain` */
  address: string;
  identity: Identity;
  /** The inbox of the site here; `null` if there is none. */
  endpoint: string | null;
  /** Contacts, outbox and copies on this machine. */
  store: Store;
}

type SiteAuthor = SiteSettings["authors"][number];

/**
 * Finds the author: of the identity file that was given, else of the site here, else of the only key on this machine.
 *
 * @throws TwtxtError `no-identity`, `bad-identity`; `bad-usage` if there are several and none was chosen
 */
export async function loadAuthor(values: AuthorChoice, machine: Machine): Promise<Author> {
  const author = await findAuthor(values, machine);
  // A file name on Windows cannot contain ":", and an address cannot contain "+".
  const folder = join(dataFolder(machine), "messages", author.address.replaceAll(":", "+"));
  return { ...author, store: new SqliteStore(folder) };
}

async function findAuthor({ as: wanted, identity: file, settings }: AuthorChoice, machine: Machine) {
  const site = await ifBuilt(settings, loadSite(machine, settings));
  const authors = (site?.settings.authors ?? []).filter(({ address }) => wanted === undefined || address === wanted);
  const identities =
    file === undefined && authors.length === 0
      ? ([await onlyIdentity(wanted, machine)] as const)
      : await ownIdentities(machine, { authors, file });
  // Other authors of the site have their keys on their own machines.
  const here = authors.filter(({ key }) => identities.some(({ publicKey }) => publicKey === key));
  if (file === undefined && here.length > 1) throw ambiguous(here);
  const [identity] = identities;
  const { address, endpoint = null } = authors.find(({ key }) => key === identity.publicKey) ?? {};
  return { identity, address: address ?? wanted ?? identity.address, endpoint };
}

/** The identity of an address; without one, the only identity on this machine. */
async function onlyIdentity(address: string | undefined, machine: Machine): Promise<Identity> {
  const places = identityPlaces(machine);
  if (address !== undefined) return (await loadIdentity(address, places)).identity;
  const { identities, faults } = await listIdentities(places);
  const [only, ...others] = identities.map(({ identity }) => identity);
  if (only && others.length === 0) return only;
  if (only) throw ambiguous([only, ...others]);
  throw noIdentity(
    `There is no key on this machine. Create one with \`${typed("keys create ADDRESS")}\`, restore it from its 24 words with \`${typed("keys restore ADDRESS")}\`, or name its file with --identity FILE.`,
    faults,
  );
}

function ambiguous(authors: readonly { address: string }[]): TwtxtError {
  const addresses = authors.map(({ address }) => address).join(" or ");
  return new TwtxtError("bad-usage", `This machine has several keys. Choose one with --as ADDRESS: ${addresses}.`);
}

/**
 * Finds the private keys of authors of the site.
 *
 * @param authors - of the site, at least one
 * @param file - the value of `--identity`, which takes precedence
 * @throws TwtxtError `no-identity` if none of them is on this machine; `bad-identity` for a malformed file
 */
export async function ownIdentities(
  machine: Machine,
  { authors, file }: { authors: readonly Pick<SiteAuthor, "key" | "address">[]; file: string | undefined },
): Promise<readonly [Identity, ...Identity[]]> {
  if (file !== undefined) return [(await readIdentity({ file: resolve(machine.folder, file) })).identity];
  const { identities, faults } = await listIdentities(identityPlaces(machine));
  const keys = authors.map(({ key }) => key);
  const all = identities.map(({ identity }) => identity);
  const [first, ...others] = all.filter(({ publicKey }) => keys.includes(publicKey));
  if (first) return [first, ...others];
  const restore = authors.map(({ address }) => `\`${typed(`keys restore ${address}`)}\``).join(" or ");
  const other = all.find((one) => authors.some(({ address }) => address === one.address));
  // A key on this machine that is newer than the last build.
  const advice = other
    ? [
        `This machine has another key for ${other.address}: if the option "key" is \`"${other.publicKey}"\` now, build and deploy again.`,
      ]
    : [];
  throw noIdentity(
    `The private key of ${keys.join(" or ")} is not on this machine. If you have its 24 words, type ${restore}. If it is in a file, name it with --identity FILE.`,
    [...advice, ...faults],
  );
}

/** The error for a site whose last build had no key. It names the key that this machine has for the site. */
export async function siteWithoutKey({ settings, host }: Site, machine: Machine): Promise<TwtxtError> {
  const { identities, faults } = await listIdentities(identityPlaces(machine));
  const domain = `@${new URL(settings.url).host}`;
  const own = identities.find(({ identity }) => identity.address.endsWith(domain))?.identity;
  if (!own) {
    const message = `The site has no key. Create one with \`${typed("keys create")}\`, set it as the option "key", build and deploy.`;
    return noIdentity(message, faults);
  }
  const built = DATES.format((await lstat(host.file)).mtime);
  return noIdentity(
    `The last build (${built}) has no key, but this machine has one for ${own.address}. If the option "key" is \`"${own.publicKey}"\`, build and deploy again.`,
  );
}

/** @param more - such as why keys on this machine could not be read, a sentence each */
function noIdentity(message: string, more: readonly string[] = []): TwtxtError {
  return new TwtxtError("no-identity", [message, ...more].join(" "));
}

/** The author's current key, which also signs and seals, followed by the former keys of the address. */
export async function ownKeys({ address, identity }: Author, machine: Machine): Promise<OwnKeys> {
  const former = await formerIdentities(address, identityPlaces(machine));
  return [toSecretKey(identity), ...former.map(toSecretKey)];
}

function toSecretKey({ publicKey, sign, agree }: Identity): SecretKey {
  return { publicKey: parseKey(publicKey), sign, agree };
}
