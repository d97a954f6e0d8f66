// plugin/blobs/serve/change.ts: an owner's requests that create, change or delete a blob. PROTOCOL 4
import { TwtxtError } from "../../errors.js";
import { checkConditions, isConditional } from "../../http/conditions.js";
import { type HttpRequest, type HttpResponse, json, readBody, readEssence } from "../../http/respond.js";
import { contentDigest } from "../../http/sign-request.js";
import type { SignedHead } from "../../http/signature.js";
import { blobJson, isContentAddress, toEtag, toVersion } from "../blob.js";
import { changed, changeInJson, readChange } from "../metadata.js";
import type { CdnCopies } from "./cdn-copies.js";
import type { StoredBlob } from "./contents.js";
import { openUpload } from "./incoming.js";
import type { Quota } from "./quota.js";
import { type BlobChange, type NextVersion, NO_RECORD, type StoredBlobs, type StoredRecord } from "./stored.js";

const MAX_JSON_BYTES = 64 * 1024;
const NOT_PURGED = "The CDN could not be purged. It may serve the old blob for up to an hour.";

export interface ChangeParts {
  stored: StoredBlobs;
  quota: Quota;
  copies: CdnCopies;
  /** Limit of one blob. */
  maxBytes: number;
  /** Absolute base URL of shared blobs. */
  sharedUrl: string;
}

/** A request with a valid signature, for the blob with this key. */
export interface BlobRequest {
  request: HttpRequest;
  signed: SignedHead;
  key: string;
}

/** A change that its conditions or a missing blob may prevent. For `first`, see {@link StoredBlobs.update}. */
interface PossibleChange extends Pick<BlobRequest, "signed" | "key"> {
  mayBeRefused?: boolean;
  first?: StoredRecord | undefined;
}

/** Replaces contents and metadata atomically. */
export async function putBlob(parts: ChangeParts, { request, signed, key }: BlobRequest): Promise<HttpResponse> {
  const { stored, maxBytes } = parts;
  const { owner, digest } = signed;
  checkIsWhole(request);
  const fields = readChange(request.headers);
  if (isContentAddress(key) && digest !== contentDigest(Buffer.from(key, "hex"))) {
    const what = "A key of 64 hex characters must be the SHA-256 of the contents. These have another one.";
    throw new TwtxtError("wrong-content-address", what);
  }
  const { size, chunks, sha256 } = await openUpload(request, { digest, maxBytes });
  const mayBeRefused = isConditional(request);
  const known = mayBeRefused ? await stored.record(owner, key) : undefined;
  checkConditions(request, known?.blob ? toVersion(known.blob) : null);

  const { isNew, release } = await parts.quota.reserve({ owner, key, size });
  const contents = await stored.contents.write({ owner, key, size }, chunks, sha256).finally(release);
  // Without contents there is no record, unless the blob was deleted or another process has just created it.
  const first = known ?? (isNew ? NO_RECORD : undefined);
  const change = await orDiscard(stored, contents, () =>
    update(parts, { signed, key, first, mayBeRefused }, (before) => {
      checkConditions(request, before && toVersion(before));
      return { contents, metadata: changed(before, fields) };
    }),
  );
  return respond(parts, change, change.before ? 200 : 201);
}

export async function postBlob(parts: ChangeParts, { request, signed, key }: BlobRequest): Promise<HttpResponse> {
  if (readEssence(request.headers.get("content-type")) !== "application/json") {
    throw new TwtxtError("bad-content-type", "Send JSON, as application/json.");
  }
  const fields = changeInJson(await signed.checkBody(readBody(request, MAX_JSON_BYTES)));
  const change = await update(parts, { signed, key }, (before) => {
    if (!before) throw noSuchBlob();
    checkConditions(request, toVersion(before));
    return { contents: before, metadata: changed(before, fields) };
  });
  return respond(parts, change, 200);
}

export async function deleteBlob(parts: ChangeParts, { request, signed, key }: BlobRequest): Promise<HttpResponse> {
  await signed.checkBody(readBody(request, 0));
  const change = await update(parts, { signed, key }, (before) => {
    if (!before) throw noSuchBlob();
    checkConditions(request, toVersion(before));
    return null;
  });
  return respond(parts, change, 200);
}

/** The error for an owner's missing blob. Others do not learn which blobs exist. */
export function noSuchBlob(): TwtxtError {
  return new TwtxtError("not-found", "You have no blob with this key.");
}

/** Notes a change of a public blob first, so that the CDN is purged even if the storage fails from here on. */
function update(
  { stored, copies }: ChangeParts,
  { signed, key, first, mayBeRefused = true }: PossibleChange,
  makeNext: (before: StoredBlob | null) => NextVersion,
) {
  const change = async (before: StoredBlob | null) => {
    const next = makeNext(before);
    if (copies.mayExist(before, signed.owner)) await copies.noteChange({ owner: signed.owner, key });
    return next;
  };
  return stored.update(key, signed.nonce, change, { mayBeRefused, first });
}

/** Purges copies, discards former contents and describes the blob. */
async function respond({ stored, copies, sharedUrl }: ChangeParts, { before, after }: BlobChange, status: number) {
  const blob = after ?? before;
  if (!blob) throw noSuchBlob();
  const isPurged = copies.mayExist(before, blob.owner) ? await copies.purge(blob) : true;
  if (before && before.contents !== after?.contents) await stored.contents.discard(before);
  const description = { ...blobJson(blob, sharedUrl), ...(after ? {} : { shared: null }) };
  return json(
    { ...description, ...(isPurged ? {} : { purged: false, note: NOT_PURGED }) },
    { status, headers: { "cache-control": "no-store", ...(after && { etag: toEtag(after) }) } },
  );
}

async function orDiscard<T>(stored: StoredBlobs, contents: Pick<StoredBlob, "contents">, work: () => Promise<T>) {
  try {
    return await work();
  } catch (error) {
    // After a failure of the storage the record may name them; the sweep finds out.
    const isUnused = error instanceof TwtxtError && error.code !== "store-failed";
    if (isUnused) await stored.contents.discard(contents).catch(() => {});
    throw error;
  }
}

/** Refuses a part or an encoded form, which would be stored as the contents. RFC 9110, 8.4 and 14.5 */
function checkIsWhole({ headers }: HttpRequest): void {
  if (headers.has("content-range")) {
    throw new TwtxtError("bad-request", "Partial uploads are not supported. Remove Content-Range.");
  }
  if ((headers.get("content-encoding") ?? "identity").toLowerCase() === "identity") return;
  throw new TwtxtError("bad-content-type", "Contents are stored as sent. Remove Content-Encoding.");
}
