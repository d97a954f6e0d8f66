// plugin/blobs/serve/read.ts: reads of a blob by its owner, or by anyone while it is public. PROTOCOL 4
import { checkConditions, isNotModified, noSuchRange, readRange } from "../../http/conditions.js";
import { type HttpRequest, type HttpResponse, readEssence } from "../../http/respond.js";
import { formatSharedUrl } from "../../site/routes.js";
import { LostRace, winRace } from "../../store/retry.js";
import type { Range } from "../../store/store.js";
import { toVersion } from "../blob.js";
import { formatDisposition, toHeaders } from "../metadata.js";
import type { BlobContents, StoredBlob } from "./contents.js";

/** Attempts to read a blob that is replaced meanwhile. */
const TRIES = 20;
/** Lifetime of the CDN's copies in seconds, in case a purge is lost. */
const CDN_SECONDS = 3600;

/** Types that browsers display; others are downloaded. Without SVG and PDF, which can contain scripts. */
const SHOWN = /^(?:image\/(?:png|jpeg|gif|webp|avif)|audio\/[a-z0-9.+-]+|video\/[a-z0-9.+-]+|text\/plain)$/;

const SHARED_HEADERS = {
  "cache-control": "public, no-cache",
  "access-control-allow-origin": "*",
  // Scripts of other sites need these to check the owner's proof.
  "access-control-expose-headers": "blob-properties, content-disposition",
  "x-content-type-options": "nosniff",
  "content-security-policy": "sandbox; default-src 'none'",
};
/** Other query parameters than `v` get the same copy. */
const CACHED = { "netlify-cdn-cache-control": `public, durable, s-maxage=${CDN_SECONDS}`, "netlify-vary": "query=v" };

/** @returns `null` if there is no blob that this reader may know of */
type Find = () => Promise<StoredBlob | null>;

/** Reads contents. @returns `null` if they were replaced or deleted since */
type Read = (blob: StoredBlob, range?: Range) => Promise<Uint8Array | ReadableStream<Uint8Array> | null>;

/** The headers that a reader gets. @param isWhole - whether the response is the whole blob */
type View = (blob: StoredBlob, isWhole: boolean) => Record<string, string>;

/** Answers the owner. @returns `null` if there is no such blob */
export function readOwn(contents: BlobContents, request: HttpRequest, find: Find): Promise<HttpResponse | null> {
  // Damaged contents too: the owner's program compares them with its proof, and may save them.
  const read: Read = (blob, range) => contents.read(blob, range);
  return answer(read, request, find, (blob) => ({ ...toHeaders(blob), "cache-control": "private, no-store" }));
}

/**
 * Answers anyone. The blob of another key of the same owner is named by `Content-Location`: its proof is by that key.
 *
 * @param requested - the owner in the URL, the absolute base URL of shared blobs, and the CDN's tag of a blob
 * @returns `null` if there is no public blob
 */
export function readShared(
  contents: BlobContents,
  request: HttpRequest,
  { owner, sharedUrl, toTag }: { owner: string; sharedUrl: string; toTag(blob: StoredBlob): string },
  find: Find,
): Promise<HttpResponse | null> {
  const read: Read = (blob, range) => contents.readIntact(blob, range);
  return answer(read, request, find, (blob, isWhole) => ({
    ...toHeaders(blob),
    ...SHARED_HEADERS,
    "content-disposition": formatDisposition(
      SHOWN.test(readEssence(blob.type)) ? "inline" : "attachment",
      blob.filename,
    ),
    ...(blob.owner !== owner && { "content-location": formatSharedUrl(sharedUrl, blob) }),
    ...(isWhole ? { ...CACHED, "netlify-cache-tag": toTag(blob) } : { "netlify-cdn-cache-control": "no-store" }),
  }));
}

/** Starts over if the blob is replaced before its contents are read, so that record and contents match. */
function answer(read: Read, request: HttpRequest, find: Find, view: View): Promise<HttpResponse | null> {
  return winRace(TRIES, async () => {
    const blob = await find();
    return blob && answerWith(read, request, blob, view);
  });
}

async function answerWith(read: Read, request: HttpRequest, blob: StoredBlob, headers: View): Promise<HttpResponse> {
  const version = toVersion(blob);
  const common = { etag: version.etag, "last-modified": version.modified.toUTCString(), "accept-ranges": "bytes" };
  checkConditions(request, version);
  if (isNotModified(request, version)) {
    return { status: 304, headers: { ...headers(blob, false), ...common }, body: null };
  }
  if (request.method === "HEAD") {
    return {
      status: 200,
      headers: { ...headers(blob, true), ...common, ...formatLength(null, blob.size) },
      body: null,
    };
  }

  const range = readRange(request, version.etag, blob.size);
  if (range === "none") return noSuchRange(blob.size);
  const contents = await read(blob, range ?? undefined);
  if (!contents) throw new LostRace(`A blob was replaced ${TRIES} times while it was read, or its contents are lost.`);
  return {
    status: range ? 206 : 200,
    headers: { ...headers(blob, range === null), ...common, ...formatLength(range, blob.size) },
    body: contents,
  };
}

function formatLength(range: Range | null, size: number): Record<string, string> {
  if (!range) return { "content-length": String(size) };
  const { first, last } = range;
  return { "content-length": String(last - first + 1), "content-range": `bytes ${first}-${last}/${size}` };
}
