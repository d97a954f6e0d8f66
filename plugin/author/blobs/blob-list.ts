// plugin/author/blobs/blob-list.ts: lists the author's blobs and verifies them.
import type { BlobInfo } from "../../blobs/blob.js";
import type { BlobClient } from "../../blobs/client/client.js";
import { receiveBlob } from "../../blobs/client/download.js";
import { type BlobState, describeLoss, LOST_ADVICE, WRONG_ADVICE } from "../../blobs/client/known-blobs.js";
import type { Proof } from "../../blobs/proof.js";
import { ifTwtxtError, TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import { listed } from "../amounts.js";
import { typedHints } from "../invocation.js";
import type { BlobSite } from "./blob-site.js";

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
  const { blobs, ...list } = page ? await own.client.newest(page.limit, page.after) : await listAll(own.client);
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

async function listAll(client: BlobClient) {
  const blobs = await client.list();
  return { blobs, next: null, count: blobs.length, bytes: blobs.reduce((sum, { size }) => sum + size, 0) };
}

/** Blobs that this machine has stored and the site does not list. */
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
export async function verifyBlobs(
  site: BlobSite,
  keys: readonly string[] | null,
): Promise<{ count: number; verifications: AsyncGenerator<Verification>; damaged: readonly string[] }> {
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
    const { proof } = await receiveBlob(download, { known, maxBytes, isAnyAccepted: true, write: drain });
    if (proof.state === "absent") return result("unproven", "it has no proof");
    return result(proof.state, proof.state === "wrong" ? proof.why : null);
  } catch (error) {
    const state = error instanceof TwtxtError ? ERROR_STATES[error.code] : undefined;
    if (state === undefined) throw error;
    return result(state, typedHints((error as TwtxtError).message));
  }
}

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}
