// plugin/cli/blob/blob-owner.ts: the author as the owner of blobs, and how blobs are shown and named by their keys.
import { join } from "node:path";
import { isContentAddress } from "../../blobs/blob.js";
import { changeBlob, type Outcome, type Owner, putBlob, type ToPut, type Wish } from "../../blobs/client/change.js";
import { blobClient, type Contents } from "../../blobs/client/client.js";
import { type NewestStates, newestStates } from "../../blobs/client/newest.js";
import { LEAST, shortKey } from "../../blobs/client/short-key.js";
import type { Judged } from "../../blobs/client/verdict.js";
import type { Proof } from "../../blobs/proof.js";
import { TwtxtError } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import { siteApi } from "../../http/site-api.js";
import { sharedUrlOf } from "../../site/blob-url.js";
import type { SiteSettings } from "../../site/site.js";
import { FileStore } from "../../store/file.js";
import { type Author, authorAt } from "../author.js";
import { dataFolder } from "../files.js";
import { typed } from "../invocation.js";
import { findByPrefix, type OwnSiteValues } from "../options.js";
import { siteAt } from "../site.js";
import type { Terminal } from "../terminal.js";

export interface BlobOwner extends Owner {
  author: Author;
  /** The URL below which the site shares the blobs of all owners. */
  sharedUrl: string;
  /** Of one blob. */
  maxBytes: number;
  /** The host that the site was built for. */
  host: SiteSettings["host"];
  put(key: string, contents: Contents, what: ToPut): Promise<Outcome>;
  change(key: string, changes: Wish): Promise<Outcome>;
}

/** @throws TwtxtError `no-settings` for a site without blobs; and as {@link authorAt} */
export async function blobOwner(values: OwnSiteValues, terminal: Terminal, signal: AbortSignal): Promise<BlobOwner> {
  const { settings } = await siteAt(terminal, values.settings);
  const { blobs, host, urls, hasEndpoints } = settings;
  if (blobs === null || !hasEndpoints) throw noBlobs(host);
  const author = await authorAt(values, terminal);
  const signer = author.identity;
  const { now } = terminal;
  const api = new URL(urls.blobs);
  const origin = values.url === undefined ? api.origin : new URL(values.url).origin;
  const missing = "Give the plugin the option blobs: true, build and deploy.";
  const ask = siteApi({ root: origin + api.pathname, signer, now, missing, signal });
  const owner: Owner = {
    client: blobClient(ask, signer.publicKey),
    signer,
    newest: newestAt({ origin, owner: signer.publicKey }, terminal),
    now,
  };
  return {
    ...owner,
    ...{ author, host, sharedUrl: urls.shared, maxBytes: blobs.maxBytes },
    put: (key, contents, what) => putBlob(owner, key, contents, what),
    change: (key, changes) => changeBlob(owner, key, changes),
  };
}

/** The newest states of an owner's blobs that this machine has seen. */
export function newestAt(where: { origin: string; owner: string }, terminal: Terminal): NewestStates {
  return newestStates(new FileStore(knownFolder(terminal)), where);
}

function knownFolder(terminal: Terminal): string {
  return join(dataFolder(terminal), "blobs");
}

/** @param damaged - records of this machine: a sentence each */
export function sayDamaged(damaged: readonly string[], terminal: Terminal): void {
  const advice = `It is in ${knownFolder(terminal)}: if you delete it, the state that the site shows counts as the newest.`;
  for (const line of damaged) terminal.say(`${line} ${advice}`);
}

function noBlobs(host: SiteSettings["host"]): TwtxtError {
  const options =
    host === "static"
      ? `the options blobs: true and host: "netlify", or host: "node" for \`${typed("serve")}\``
      : "the option blobs: true";
  return new TwtxtError("no-settings", `This site has no blobs. Give the plugin ${options}; build and deploy.`);
}

const PREFIX = new RegExp(`^[0-9a-f]{${LEAST},64}$`, "i");
const KEY_USE = { idOf: (key: string) => key, what: "blob", short: shortKey, least: LEAST };

/**
 * Completes keys that are the first characters of a SHA-256. Asks the site only if there are any.
 *
 * @throws TwtxtError `not-found` for the start of several keys
 */
export async function wholeKeys(
  words: readonly string[],
  { client, newest }: Pick<BlobOwner, "client" | "newest">,
): Promise<string[]> {
  if (!words.some(isPrefix)) return [...new Set(words)];
  const [stored, known] = await Promise.all([client.list(), newest.list()]);
  // This machine also knows blobs that the site hides.
  const all = [...stored, ...known.states.filter(({ isDeleted }) => !isDeleted)].map(({ key }) => key);
  const addresses = [...new Set(all)].filter(isContentAddress);
  const wholeKey = (word: string) =>
    isPrefix(word) && !all.includes(word) ? (findByPrefix(word.toLowerCase(), addresses, KEY_USE) ?? word) : word;
  return [...new Set(words.map(wholeKey))];
}

/** Whole keys are case-sensitive; a SHA-256 in capitals is completed too. */
function isPrefix(word: string): boolean {
  return PREFIX.test(word) && !isContentAddress(word);
}

export function visibility({ isPublic }: Pick<Judged, "isPublic">): "public" | "private" {
  return isPublic ? "public" : "private";
}

/** The URL of a public blob, the key of a private one. */
export function placeOf(blob: Judged, sharedUrl: string): string {
  return blob.isPublic ? sharedUrlOf(sharedUrl, blob) : blob.key;
}

/** For `--json`. */
export function factsOf(blob: Judged, sharedUrl: string) {
  const { key, size, sha256, type, filename, isPublic, properties } = blob;
  const shared = isPublic ? sharedUrlOf(sharedUrl, blob) : null;
  return { key, size, sha256: sha256 || null, type, filename, public: isPublic, properties, shared };
}

/** For `--json`. */
export function proofFacts(proof: Proof) {
  return { state: proof.state, created: proof.state === "right" ? proof.created : null, why: wrongness(proof) };
}

export function wrongness(proof: Proof): string | null {
  return proof.state === "wrong" ? proof.why : null;
}

/**
 * A link to paste into a post: the site replaces `blob:KEY` with the shared URL.
 *
 * @param name - of the file, for a blob without one
 */
export function markdownOf({ key, type, filename }: Judged, name = ""): string {
  const label = oneLine(filename || name || shortKey(key)).replace(/[\\[\]]/g, "\\$&");
  return `${type.startsWith("image/") ? "!" : ""}[${label}](blob:${key})`;
}
