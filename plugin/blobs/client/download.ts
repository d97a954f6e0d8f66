// plugin/blobs/client/download.ts: receives and verifies the contents of blobs, the author's own and shared ones. PROTOCOL 4
import { TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { parseKey } from "../../keys/key.js";
import { isBlobKey } from "../../site/routes.js";
import { ChunkMeter, limitSize } from "../../store/chunks.js";
import { canParseUrl } from "../../url.js";
import type { BlobFields } from "../blob.js";
import type { Proof } from "../proof.js";
import { type Download, remoteBlob } from "./client.js";
import { type KnownBlobs, refuseWrong } from "./known-blobs.js";

export interface ReceivedBlob {
  /** With the size and hash of the received contents. */
  blob: BlobFields;
  proof: Proof;
}

export interface ReceiveOptions {
  known: KnownBlobs;
  /** The limit for contents whose size is not proven. */
  maxBytes: number;
  /** What to do about a wrong blob, a sentence; default that for the author's own. */
  advice?: string;
  /** Whether wrong blobs are accepted too. */
  isAnyAccepted: boolean;
  write(chunks: AsyncIterable<Uint8Array>): Promise<void>;
}

/**
 * Receives a blob. If its headers are wrong, its contents are not read.
 *
 * @throws TwtxtError `blob-tampered` for a wrong blob, unless any is accepted; `too-large`; `unreachable` if it ends early
 */
export async function receiveBlob({ blob, chunks, close }: Download, options: ReceiveOptions): Promise<ReceivedBlob> {
  const { known, maxBytes, advice, isAnyAccepted, write } = options;
  const { key, size } = blob;
  const verified = async (fields: BlobFields) => {
    const proof = await known.verify(fields);
    return isAnyAccepted ? proof : refuseWrong(key, proof, advice);
  };
  try {
    const announced = size === null ? null : await verified({ ...blob, size });
    const limit = announced?.state === "right" ? (size ?? 0) : maxBytes;
    const meter = new ChunkMeter();
    const what = `${key}: the site sends more than the allowed ${limit} bytes.`;
    await write(limitSize(meter.pass(chunks()), limit, () => new TwtxtError("too-large", what)));
    const received = { ...blob, size: meter.size, sha256: meter.sha256() };
    return { blob: received, proof: await verified(received) };
  } finally {
    close();
  }
}

export interface SharedUrl {
  url: string;
  origin: string;
  /** `kex1...` */
  owner: string;
  key: string;
}

const SHARED_PATH = /\/(?<owner>kex1[a-z0-9]+)\/(?<key>[^/]+)$/;
/** No site that runs this plugin can be configured to accept more. */
const MAX_SHARED_BYTES = 10_000 * 2 ** 20;

/** @returns `null` for any other text */
export function parseSharedUrl(text: string): SharedUrl | null {
  if (!/^https?:/i.test(text) || !canParseUrl(text)) return null;
  const { href, origin, pathname } = new URL(text);
  const { owner = "", key = "" } = SHARED_PATH.exec(pathname)?.groups ?? {};
  try {
    parseKey(owner);
    return isBlobKey(key) ? { url: href, origin, owner, key } : null;
  } catch {
    return null;
  }
}

/**
 * Requests a blob that another owner shares.
 *
 * @throws TwtxtError `not-found`; `key-changed` for a blob of another key of its owner; `blob-tampered` for an invalid response; `unreachable`, `address-refused` and
 *   `too-many-redirects` as the guard
 */
export async function getShared({ url, owner, key }: SharedUrl, ask: Ask): Promise<Download> {
  const { status, headers, body, close } = await ask(url, {
    maxBytes: MAX_SHARED_BYTES,
    // A compressed body would have no Content-Length.
    headers: { "accept-encoding": "identity" },
  });
  try {
    if (status === 404 || status === 410) {
      throw new TwtxtError("not-found", `${url} answers ${status}: the blob does not exist, or is no longer shared.`);
    }
    const moved = parseSharedUrl(new Headers(headers).get("content-location") ?? "");
    if (moved !== null && moved.owner !== owner && moved.key === key) {
      throw new TwtxtError(
        "key-changed",
        `${url} has a blob that another key has signed: ${moved.owner}. If that is its owner's new key, get ${moved.url}`,
      );
    }
    if (status !== 200) throw new TwtxtError("unreachable", `${url} answers ${status}.`);
    return { blob: remoteBlob(url, { owner, key }, new Headers(headers)), chunks: () => body, close };
  } catch (error) {
    close();
    throw error;
  }
}
