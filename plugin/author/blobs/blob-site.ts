// plugin/author/blobs/blob-site.ts: the author's blobs at the site: lists and verifies them, and has what pages and JSON say about a blob.
import { join, resolve } from "node:path";
import { type BlobFields, type BlobInfo, shortKey } from "../../blobs/blob.js";
import { BlobClient } from "../../blobs/client/client.js";
import { receiveBlob } from "../../blobs/client/download.js";
import { type BlobState, describeLoss, KnownBlobs, LOST_ADVICE, WRONG_ADVICE } from "../../blobs/client/known-blobs.js";
import { OwnBlobs } from "../../blobs/client/own-blobs.js";
import type { Proof } from "../../blobs/proof.js";
import { ifTwtxtError, TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import { siteApi } from "../../http/site-api.js";
import { formerIdentities, type Identity, readIdentity } from "../../keys/identity.js";
import { formatSharedUrl } from "../../site/routes.js";
import type { SiteSettings } from "../../site/site.js";
import { SqliteStore } from "../../store/sqlite.js";
import { listed } from "../amounts.js";
import { type Author, loadAuthor } from "../author.js";
import { dataFolder, identityPlaces } from "../files.js";
import { typed, typedHints } from "../invocation.js";
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
  quota: Record<"count" | "bytes", number>;
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
  return new OwnBlobs(new BlobClient(ask, signer.publicKey), known, signer, now);
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

/** A blob of the site, and whether its metadata are as the author stored them. */
export interface ListedBlob {
  blob: BlobInfo;
  proof: Proof;
}

export interface BlobList {
  /** Newest first. */
  rows: ListedBlob[];
  /** The cursor of older ones; `null` for none. */
  next: string | null;
  /** The number and size of all blobs, on whatever page. */
  count: number;
  bytes: number;
  /** Blobs that this machine has stored and the site does not list; empty for one of several pages. */
  lost: { key: string; why: string }[];
  /** A message for each record of this machine that cannot be read; empty for one of several pages. */
  damaged: readonly string[];
}

/** @param page - `null` for all blobs; `after` is the `next` of the page before, empty for the first one */
export async function listBlobs(
  { blobs: own }: BlobSite,
  page: { limit: number; after: string } | null,
): Promise<BlobList> {
  const all = page ? [] : await own.client.list();
  const { blobs, ...list } = page
    ? await own.client.newest(page.limit, page.after)
    : { blobs: all, next: null, count: all.length, bytes: all.reduce((sum, { size }) => sum + size, 0) };
  const isWhole = list.next === null && (page?.after ?? "") === "";
  const { states, damaged } = isWhole ? await own.known.list() : { states: [], damaged: [] };
  const rows: ListedBlob[] = [];
  for (const blob of blobs.sort((a, b) => (a.modified < b.modified ? 1 : -1))) {
    // A blob whose record cannot be read is wrong, and does not stop the list.
    const proof = await own.known
      .verify(blob)
      .catch(ifTwtxtError(({ message }): Proof => ({ state: "wrong", why: message })));
    rows.push({ blob, proof });
  }
  return { ...list, rows, lost: lostBlobs(states, blobs), damaged };
}

function lostBlobs(states: readonly BlobState[], blobs: readonly BlobInfo[]): { key: string; why: string }[] {
  const stored = new Set(blobs.map(({ key }) => key));
  return states.flatMap((state) => {
    const why = stored.has(state.key) ? null : describeLoss(state);
    return why === null ? [] : [{ key: state.key, why }];
  });
}

export interface Verification {
  key: string;
  /** Empty if it has none, or is missing. */
  filename: string;
  state: "right" | "unproven" | "wrong" | "missing" | "unread";
  /** A clause; `null` for a blob that is right. */
  why: string | null;
}

/** @example sumVerifications([{ key: "a", state: "right", why: null }]) // "1 as you stored them" */
export function sumVerifications(results: readonly Verification[]): string {
  const count = (state: Verification["state"]) => results.filter((one) => one.state === state).length;
  return listed([
    [count("right"), "as you stored them"],
    [count("unproven"), "without a proof"],
    [count("wrong"), "wrong"],
    [count("missing"), "missing"],
    [count("unread"), "not read"],
  ]);
}

/** What to do about blobs that are not right, sentences. */
export const VERIFICATION_ADVICE = {
  wrong: WRONG_ADVICE,
  missing: LOST_ADVICE,
  unread: "Blobs that could not be read may be right: try again when the site can be reached.",
};

/**
 * Reads blobs whole and verifies them, one after the other.
 *
 * @param keys - `null` for all that the site or this machine knows
 * @throws TwtxtError `unreachable` while iterating, if it is interrupted
 */
export async function verifyBlobs(site: BlobSite, keys: readonly string[] | null) {
  const { states, damaged } = await site.blobs.known.list();
  const known = states.filter(({ isDeleted }) => !isDeleted);
  const all = async () => [...(await site.blobs.client.list()), ...known].map(({ key }) => key);
  const verified = keys ?? [...new Set(await all())].sort();
  return { count: verified.length, verifications: verifyEach(verified, site), damaged };
}

async function* verifyEach(keys: readonly string[], site: BlobSite): AsyncGenerator<Verification> {
  for (const key of keys) {
    const result = await verifyStored(key, site);
    site.signal.throwIfAborted();
    yield result;
  }
}

/** Errors that concern one blob, and do not stop the others. */
const ERROR_STATES: Partial<Record<TwtxtErrorCode, Verification["state"]>> = {
  "blob-tampered": "wrong",
  "too-large": "wrong",
  "store-failed": "wrong",
  unreachable: "unread",
};

async function verifyStored(key: string, { blobs: { client, known }, maxBytes }: BlobSite): Promise<Verification> {
  let filename = "";
  const result = (state: Verification["state"], why: string | null) => ({ key, filename, state, why });
  try {
    const download = await client.get(key);
    if (!download) return result("missing", describeLoss(await known.get(key)) ?? "there is no such blob");
    filename = download.blob.filename;
    const drain = async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const _ of chunks);
    };
    const { proof } = await receiveBlob(download, { known, maxBytes, isAnyAccepted: true, write: drain });
    if (proof.state === "absent") return result("unproven", "it has no proof");
    return result(proof.state, proof.state === "wrong" ? proof.why : null);
  } catch (error) {
    const state = error instanceof TwtxtError ? ERROR_STATES[error.code] : undefined;
    if (state === undefined) throw error;
    return result(state, typedHints((error as TwtxtError).message));
  }
}
