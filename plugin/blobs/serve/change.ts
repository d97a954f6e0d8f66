// plugin/blobs/serve/change.ts: an owner's requests that put, change or delete a blob. PROTOCOL 4
import { TwtxtError } from "../../errors.js";
import { checkConditions } from "../../http/conditions.js";
import { essenceOf, json, readBody } from "../../http/respond.js";
import { contentDigest, type SignedHead } from "../../http/signature.js";
import { blobJson, etagOf, isContentAddress, versionOf } from "../blob.js";
import { changed, changeIn, changeInJson } from "../metadata.js";
import type { Copies } from "./copies.js";
import { incoming } from "./incoming.js";
import type { Quota } from "./quota.js";
import type { Next, Stepped, StoredBlob, StoredBlobs } from "./stored.js";

const MAX_JSON_BYTES = 64 * 1024;
const NOT_FORGOTTEN = "The CDN could not be purged. It may serve the old blob for up to an hour.";

export interface ChangeParts {
  stored: StoredBlobs;
  quota: Quota;
  copies: Copies;
  maxBytes: number;
  /** Where blobs are shared: that of each is below it. */
  sharedUrl: string;
}

/** A request with a valid signature, for the blob with this key. */
export interface SignedFor {
  request: Request;
  signed: SignedHead;
  key: string;
}

/** Replaces contents and metadata atomically. */
export async function putBlob(parts: ChangeParts, { request, signed, key }: SignedFor): Promise<Response> {
  const { stored, maxBytes } = parts;
  const { owner, digest } = signed;
  checkWhole(request);
  const change = changeIn(request.headers);
  if (isContentAddress(key) && digest !== contentDigest(Buffer.from(key, "hex"))) throw wrongAddress();
  const { size, chunks, sha256 } = await incoming(request, { digest, maxBytes });
  const found = await stored.find(owner, key);
  checkConditions(request, found && versionOf(found));

  const release = await parts.quota({ owner, key, size });
  const contents = await stored.write({ owner, key, size }, chunks(), sha256).finally(release);
  const stepped = await orDiscard(stored, contents, async () => {
    await signed.spend();
    return step(parts, owner, key, (before) => {
      checkConditions(request, before && versionOf(before));
      return { contents, metadata: changed(before, change) };
    });
  });
  return settled(parts, stepped, stepped.before ? 200 : 201);
}

/** Changes the metadata. */
export async function postBlob(parts: ChangeParts, { request, signed, key }: SignedFor): Promise<Response> {
  checkJsonType(request);
  const change = changeInJson(await signedBody(request, signed, MAX_JSON_BYTES));
  await signed.spend();
  const stepped = await step(parts, signed.owner, key, (before) => {
    if (!before) throw noSuchBlob();
    checkConditions(request, versionOf(before));
    return { contents: before, metadata: changed(before, change) };
  });
  return settled(parts, stepped, 200);
}

/** Deletes a blob. Its contents are gone when this answers. */
export async function deleteBlob(parts: ChangeParts, { request, signed, key }: SignedFor): Promise<Response> {
  await signedBody(request, signed, 0);
  await signed.spend();
  const stepped = await step(parts, signed.owner, key, (before) => {
    if (!before) throw noSuchBlob();
    checkConditions(request, versionOf(before));
    return null;
  });
  return settled(parts, stepped, 200);
}

/** Only owners reach this error. */
export function noSuchBlob(): TwtxtError {
  return new TwtxtError("not-found", "You have no blob with this key.");
}

/** Even where the storage gives no answer from here on, what was public does not stay with the CDN. */
function step({ stored, copies }: ChangeParts, owner: string, key: string, make: (before: StoredBlob | null) => Next) {
  return stored.step(owner, key, async (before) => {
    const next = make(before);
    if (before?.isPublic) await copies.note(before);
    return next;
  });
}

/** Clears away what is over, and tells of what has become of it. */
async function settled({ stored, copies, sharedUrl }: ChangeParts, { before, after }: Stepped, status: number) {
  const isForgotten = before?.isPublic ? await copies.forget(before) : true;
  if (before && before.contents !== after?.contents) await stored.discard(before);
  const blob = after ?? before;
  if (!blob) throw noSuchBlob();
  const told = { ...blobJson(blob, sharedUrl), ...(after ? {} : { shared: null }) };
  return json(
    { ...told, ...(isForgotten ? {} : { purged: false, note: NOT_FORGOTTEN }) },
    { status, headers: { "cache-control": "no-store", ...(after && { etag: etagOf(after) }) } },
  );
}

async function orDiscard<T>(stored: StoredBlobs, contents: Pick<StoredBlob, "contents">, work: () => Promise<T>) {
  try {
    return await work();
  } catch (error) {
    // Where the storage gave no answer, the record may name them all the same; the sweep knows.
    const isKnown = error instanceof TwtxtError && error.code !== "store-failed";
    if (isKnown) await stored.discard(contents).catch(() => {});
    throw error;
  }
}

/** Reads the signed body of a small request. */
export async function signedBody(request: Request, signed: SignedHead, maxBytes: number): Promise<Uint8Array> {
  const body = await readBody(request, maxBytes);
  signed.checkBody(body);
  return body;
}

/** As a part, or what stands for the contents, would be kept in their place. RFC 9110, 8.4 and 14.5 */
function checkWhole({ headers }: Request): void {
  if (headers.has("content-range")) {
    throw new TwtxtError("bad-request", "Partial uploads are not supported. Remove Content-Range.");
  }
  if ((headers.get("content-encoding") ?? "identity").toLowerCase() === "identity") return;
  throw new TwtxtError("bad-content-type", "Contents are stored as sent. Remove Content-Encoding.");
}

function checkJsonType(request: Request): void {
  if (essenceOf(request.headers.get("content-type")) === "application/json") return;
  throw new TwtxtError("bad-content-type", "Send JSON, as application/json.");
}

function wrongAddress(): TwtxtError {
  return new TwtxtError(
    "wrong-content-address",
    "A key of 64 hex characters is the SHA-256 of the contents. It is not that of these.",
  );
}
