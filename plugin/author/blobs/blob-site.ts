// plugin/author/blobs/blob-site.ts: the author's blobs at the site, and what pages and JSON say about a blob.
import { join, resolve } from "node:path";
import { type BlobFields, shortKey } from "../../blobs/blob.js";
import { BlobClient } from "../../blobs/client/client.js";
import { KnownBlobs } from "../../blobs/client/known-blobs.js";
import { OwnBlobs } from "../../blobs/client/own-blobs.js";
import type { Proof } from "../../blobs/proof.js";
import { TwtxtError } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import { siteApi } from "../../http/site-api.js";
import { formerIdentities, readIdentity } from "../../keys/identity.js";
import type { Identity } from "../../keys/node-identity.js";
import { formatSharedUrl } from "../../site/routes.js";
import type { SiteSettings } from "../../site/site.js";
import { SqliteStore } from "../../store/sqlite.js";
import { type Author, loadAuthor } from "../author.js";
import { dataFolder, identityPlaces } from "../files.js";
import { typed } from "../invocation.js";
import { endSignal, type Machine, type OwnSiteChoice } from "../machine.js";
import { ownUrl } from "../network.js";
import { loadSite } from "../site.js";

/** A site where the author stores blobs. */
export interface BlobSite {
  blobs: OwnBlobs;
  author: Author;
  /** The absolute URL of the API, which serves the signer's own blobs. */
  root: string;
  /** The URL below which the site shares the blobs of all owners. */
  sharedUrl: string;
  maxBytes: number;
  /** The limits of all blobs of the author. */
  quota: Record<"count" | "bytes", number>;
  /** The host that the site was built for. */
  host: SiteSettings["host"];
  /** Aborts all requests, such as at SIGTERM or Ctrl-C. */
  signal: AbortSignal;
}

/**
 * @param signal - aborts all requests; default: at the end of the process
 * @throws TwtxtError `no-settings` for a site without blobs; and as {@link loadAuthor}
 */
export async function blobSite(
  choice: OwnSiteChoice,
  machine: Machine,
  signal: AbortSignal = endSignal(machine),
): Promise<BlobSite> {
  const { settings } = await loadSite(machine, choice.settings);
  const { blobs: limits, host, urls, hasEndpoints } = settings;
  if (limits === null || !hasEndpoints) throw noBlobs(host);
  const author = await loadAuthor(choice, machine);
  const root = ownUrl(urls.blobs, choice);
  const blobs = openBlobs(author.identity, { root, signal }, machine);
  return { blobs, author, root, sharedUrl: urls.shared, maxBytes: limits.maxBytes, quota: limits, host, signal };
}

function openBlobs(signer: Identity, { root, signal }: Pick<BlobSite, "root" | "signal">, machine: Machine): OwnBlobs {
  const { now, say: warn } = machine;
  const missing = "Give the plugin the option blobs: true, build and deploy.";
  const ask = siteApi({ root, signer, now, warn, missing, signal });
  const known = knownBlobs({ origin: new URL(root).origin, owner: signer.publicKey }, machine);
  return new OwnBlobs({ client: new BlobClient(ask, signer.publicKey), known, signer, now });
}

/**
 * The same site for the blobs of each former key of the author that is on this machine.
 *
 * @param file - an identity file with another former key
 * @throws TwtxtError `bad-identity`
 */
export async function formerSites(site: BlobSite, file: string | undefined, machine: Machine): Promise<BlobSite[]> {
  const { address, identity } = site.author;
  const named = file === undefined ? [] : [(await readIdentity({ file: resolve(machine.folder, file) })).identity];
  const former = [...named, ...(await formerIdentities(address, identityPlaces(machine)))];
  const byKey = new Map(former.map((one) => [one.publicKey, one]));
  byKey.delete(identity.publicKey);
  return [...byKey.values()].map((one) => ({
    ...site,
    author: { ...site.author, identity: one },
    blobs: openBlobs(one, site, machine),
  }));
}

function noBlobs(host: SiteSettings["host"]): TwtxtError {
  const options =
    host === "static"
      ? `the options blobs: true and host: "netlify" (or host: "node" for \`${typed("serve")}\`) if they are`
      : "the option blobs: true if it is";
  return new TwtxtError(
    "no-settings",
    `This site was built without blobs: set ${options} not set yet, then build and deploy.`,
  );
}

/** What this machine knows about an owner's blobs at a site. */
export function knownBlobs(place: { origin: string; owner: string }, machine: Machine): KnownBlobs {
  return new KnownBlobs(new SqliteStore(knownFolder(machine)), place);
}

function knownFolder(machine: Machine): string {
  return join(dataFolder(machine), "blobs");
}

/** Adds what to do. @param damaged - a message for each record of this machine that cannot be read */
export function describeDamage(damaged: readonly string[], machine: Machine): string[] {
  const advice = `It is in the database in ${knownFolder(machine)}: if you delete that folder, the site's versions of all blobs count as the newest.`;
  return damaged.map((line) => `${line} ${advice}`);
}

export function visibility({ isPublic }: Pick<BlobFields, "isPublic">): "public" | "private" {
  return isPublic ? "public" : "private";
}

/** The URL of a public blob, the key of a private one. */
export function choosePlace(blob: BlobFields, sharedUrl: string): string {
  return blob.isPublic ? formatSharedUrl(sharedUrl, blob) : blob.key;
}

/** For `--json`. */
export function toFacts(blob: BlobFields, sharedUrl: string) {
  const { key, size, sha256, type, filename, isPublic, properties } = blob;
  const shared = isPublic ? formatSharedUrl(sharedUrl, blob) : null;
  return { key, size, sha256: sha256 || null, type, filename, public: isPublic, properties, shared };
}

/**
 * Deletes a blob of the author's own.
 *
 * @returns whether the site had it; whether only this machine knew it, and now knows that it is gone; and a sentence
 */
export async function deleteBlob(key: string, blobs: OwnBlobs) {
  const { response, known } = await blobs.delete(key);
  const wasMissing = response === null && known !== null && !known.isDeleted;
  const note = wasMissing ? "This machine has recorded that it is gone." : (response?.note ?? null);
  return { removed: response !== null, wasMissing, note };
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
export function formatMarkdown({ key, type, filename }: BlobFields, name = ""): string {
  const label = oneLine(filename || name || shortKey(key)).replace(/[\\[\]]/g, "\\$&");
  return `${type.startsWith("image/") ? "!" : ""}[${label}](blob:${key})`;
}
