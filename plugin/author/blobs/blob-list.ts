// plugin/author/blobs/blob-list.ts: lists the author's blobs and verifies them.
import type { BlobInfo } from "../../blobs/blob.js";
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
  /** Whether the site has older ones. Then `lost` and `damaged` are empty. */
  isMore: boolean;
  /** Blobs that this machine has stored and the site does not list. */
  lost: { key: string; why: string }[];
  /** A message for each record of this machine that cannot be read. */
  damaged: readonly string[];
}

/** @param limit - the most rows; default: all */
export async function listBlobs({ blobs: own }: BlobSite, limit: number | null = null): Promise<BlobList> {
  const page = limit === null ? { blobs: await own.client.list(), isMore: false } : await own.client.newest(limit);
  const { isMore } = page;
  const { states, damaged } = isMore ? { states: [], damaged: [] } : await own.known.list();
  const blobs = page.blobs.sort((a, b) => (a.modified < b.modified ? 1 : -1));
  const rows: ListedBlob[] = [];
  for (const blob of blobs) {
    // A blob whose record cannot be read is wrong, and does not stop the list.
    const proof = await own.known
      .verify(blob)
      .catch(ifTwtxtError(({ message }): Proof => ({ state: "wrong", why: message })));
    rows.push({ blob, proof });
  }
  return { rows, isMore, lost: lostBlobs(states, blobs), damaged };
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
  try {
    const download = await client.get(key);
    if (!download) return { key, state: "missing", why: describeLoss(await known.get(key)) ?? "there is no such blob" };
    const { proof } = await receiveBlob(download, { known, maxBytes, isAnyAccepted: true, write: drain });
    if (proof.state === "absent") return { key, state: "unproven", why: "it has no proof" };
    return { key, state: proof.state, why: proof.state === "wrong" ? proof.why : null };
  } catch (error) {
    const state = error instanceof TwtxtError ? ERROR_STATES[error.code] : undefined;
    if (state === undefined) throw error;
    return { key, state, why: typedHints((error as TwtxtError).message) };
  }
}

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}
