// plugin/cli/blob/blob-site.ts: the author's blobs at the site, completion of their keys, and blobs as text and JSON.
import { join } from "node:path";
import { type BlobFields, isContentAddress, MIN_KEY_PREFIX, shortKey } from "../../blobs/blob.js";
import { BlobClient } from "../../blobs/client/client.js";
import { KnownBlobs } from "../../blobs/client/known-blobs.js";
import { OwnBlobs } from "../../blobs/client/own-blobs.js";
import type { Proof } from "../../blobs/proof.js";
import { TwtxtError } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import { siteApi } from "../../http/site-api.js";
import { sharedUrlOf } from "../../site/routes.js";
import type { SiteSettings } from "../../site/site.js";
import { FileStore } from "../../store/file.js";
import { type Author, authorAt } from "../author.js";
import { dataFolder } from "../files.js";
import { typed } from "../invocation.js";
import { findByPrefix, type OwnSiteValues } from "../options.js";
import { siteAt } from "../site.js";
import { endingOf, type Terminal } from "../terminal.js";

/** A site where the author stores blobs. */
export interface BlobSite {
  blobs: OwnBlobs;
  author: Author;
  /** The URL below which the site shares the blobs of all owners. */
  sharedUrl: string;
  /** The largest blob. */
  maxBytes: number;
  /** The host that the site was built for. */
  host: SiteSettings["host"];
  /** Aborts all requests at SIGTERM or Ctrl-C. */
  signal: AbortSignal;
}

/** @throws TwtxtError `no-settings` for a site without blobs; and as {@link authorAt} */
export async function blobSite(values: OwnSiteValues, terminal: Terminal): Promise<BlobSite> {
  const { settings } = await siteAt(terminal, values.settings);
  const { blobs: limits, host, urls, hasEndpoints } = settings;
  if (limits === null || !hasEndpoints) throw noBlobs(host);
  const author = await authorAt(values, terminal);
  const { identity: signer } = author;
  const { now } = terminal;
  const signal = endingOf(terminal);
  const api = new URL(urls.blobs);
  const origin = values.url === undefined ? api.origin : new URL(values.url).origin;
  const missing = "Give the plugin the option blobs: true, build and deploy.";
  const ask = siteApi({ root: origin + api.pathname, signer, now, missing, signal });
  const known = knownBlobs({ origin, owner: signer.publicKey }, terminal);
  const blobs = new OwnBlobs({ client: new BlobClient(ask, signer.publicKey), known, signer, now });
  return { blobs, author, sharedUrl: urls.shared, maxBytes: limits.maxBytes, host, signal };
}

function noBlobs(host: SiteSettings["host"]): TwtxtError {
  const options =
    host === "static"
      ? `the options blobs: true and host: "netlify", or host: "node" for \`${typed("serve")}\``
      : "the option blobs: true";
  return new TwtxtError("no-settings", `This site has no blobs. Give the plugin ${options}; build and deploy.`);
}

/** What this machine knows about an owner's blobs at a site. */
export function knownBlobs(place: { origin: string; owner: string }, terminal: Terminal): KnownBlobs {
  return new KnownBlobs(new FileStore(knownFolder(terminal)), place);
}

function knownFolder(terminal: Terminal): string {
  return join(dataFolder(terminal), "blobs");
}

/** @param damaged - a message for each record of this machine that cannot be read */
export function sayDamaged(damaged: readonly string[], terminal: Terminal): void {
  const advice = `It is in ${knownFolder(terminal)}: if you delete it, the site's version of the blob counts as the newest.`;
  for (const line of damaged) terminal.say(`${line} ${advice}`);
}

const KEY_PREFIX = new RegExp(`^[0-9a-f]{${MIN_KEY_PREFIX},64}$`, "i");
const KEY_USE = { idOf: (key: string) => key, what: "blob", short: shortKey, least: MIN_KEY_PREFIX };

/** Whole keys are case-sensitive; a SHA-256 in capitals is completed too. */
function isPrefix(word: string): boolean {
  return KEY_PREFIX.test(word) && !isContentAddress(word);
}

/**
 * Completes keys that are the first characters of a SHA-256. Asks the site only if there are any.
 *
 * @throws TwtxtError `not-found` for the start of several keys
 */
export async function completeKeys(words: readonly string[], { client, known }: OwnBlobs): Promise<string[]> {
  if (!words.some(isPrefix)) return [...new Set(words)];
  const [stored, { states }] = await Promise.all([client.list(), known.list()]);
  // This machine also knows blobs that the site hides.
  const all = [...stored, ...states.filter(({ isDeleted }) => !isDeleted)].map(({ key }) => key);
  const addresses = [...new Set(all)].filter(isContentAddress);
  const complete = (word: string) =>
    isPrefix(word) && !all.includes(word) ? (findByPrefix(word.toLowerCase(), addresses, KEY_USE) ?? word) : word;
  return [...new Set(words.map(complete))];
}

/** The same for one key. */
export async function completeKey(word: string, blobs: OwnBlobs): Promise<string> {
  const [key = word] = await completeKeys([word], blobs);
  return key;
}

export function visibility({ isPublic }: Pick<BlobFields, "isPublic">): "public" | "private" {
  return isPublic ? "public" : "private";
}

/** The URL of a public blob, the key of a private one. */
export function placeOf(blob: BlobFields, sharedUrl: string): string {
  return blob.isPublic ? sharedUrlOf(sharedUrl, blob) : blob.key;
}

/** For `--json`. */
export function factsOf(blob: BlobFields, sharedUrl: string) {
  const { key, size, sha256, type, filename, isPublic, properties } = blob;
  const shared = isPublic ? sharedUrlOf(sharedUrl, blob) : null;
  return { key, size, sha256: sha256 || null, type, filename, public: isPublic, properties, shared };
}

/** For `--json`. */
export function proofFacts(proof: Proof) {
  const created = proof.state === "right" ? proof.created : null;
  return { state: proof.state, created, why: proof.state === "wrong" ? proof.why : null };
}

/**
 * A link to paste into a post: the site replaces `blob:KEY` with the shared URL.
 *
 * @param name - of the file, for a blob without one
 */
export function markdownOf({ key, type, filename }: BlobFields, name = ""): string {
  const label = oneLine(filename || name || shortKey(key)).replace(/[\\[\]]/g, "\\$&");
  return `${type.startsWith("image/") ? "!" : ""}[${label}](blob:${key})`;
}
