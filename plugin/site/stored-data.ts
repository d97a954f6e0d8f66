// plugin/site/stored-data.ts: requests and answers of /api/v1/site/data, by which the author backs up and restores a site.
import * as v from "valibot";

/** Bytes of values in one request or answer: in base64 they fit into the 6 MB of a function on Netlify. */
export const BATCH_BYTES = 3 * 2 ** 20;
/** Larger values have requests of their own. */
export const SMALL_VALUE_BYTES = 2 ** 20;
/** Values in one request. Each costs a request to the storage. */
export const BATCH_VALUES = 200;
/** Keys in one answer. */
export const KEYS_PAGE = 5000;
export const MAX_REQUEST_BYTES = 5 * 2 ** 20;

const key = v.string();
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const base64 = v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]*={0,2}$/));

/** What to do with values: read them, compute their hashes, write them in this order, or delete them. */
export const DataRequest = v.union([
  v.strictObject({ read: v.pipe(v.array(key), v.maxLength(BATCH_VALUES)) }),
  v.strictObject({ hash: v.pipe(v.array(key), v.maxLength(BATCH_VALUES)) }),
  v.strictObject({ write: v.pipe(v.array(v.strictObject({ key, base64, sha256 })), v.maxLength(BATCH_VALUES)) }),
  v.strictObject({ delete: v.pipe(v.array(key), v.maxLength(BATCH_VALUES)) }),
]);
export type DataRequest = v.InferOutput<typeof DataRequest>;

export const KeysAnswer = v.object({ keys: v.array(key), next: v.nullable(key) });
export type KeysAnswer = v.InferOutput<typeof KeysAnswer>;

/** The first of the requested values, as many as fit. A large value has only its size; a missing one is `null`. */
export const ReadAnswer = v.object({
  values: v.array(
    v.nullable(
      v.union([
        v.object({ etag: v.string(), base64, sha256 }),
        v.object({ size: v.pipe(v.number(), v.safeInteger()) }),
      ]),
    ),
  ),
});
export type ReadAnswer = v.InferOutput<typeof ReadAnswer>;

/** The SHA-256 of each value in hex; `null` for a missing one. */
export const HashAnswer = v.object({ hashes: v.array(v.nullable(sha256)) });
export const WriteAnswer = v.object({ written: v.number() });
export const DeleteAnswer = v.object({ deleted: v.number() });
