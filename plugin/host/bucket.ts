// plugin/host/bucket.ts: the store in the owner's S3 bucket, if one is configured, and the check of a store. PROTOCOL 7
import { randomBytes } from "node:crypto";
import { TwtxtError } from "../errors.js";
import { withFormatCheck } from "../store/format.js";
import { S3Store } from "../store/s3.js";
import type { Store, StreamingStore } from "../store/store.js";
import { type Environment, readValue } from "./service-options.js";

const VARIABLES = {
  endpoint: "TWTXT_S3_ENDPOINT",
  bucket: "TWTXT_S3_BUCKET",
  region: "TWTXT_S3_REGION",
  accessKeyId: "TWTXT_S3_ACCESS_KEY_ID",
  secretAccessKey: "TWTXT_S3_SECRET_ACCESS_KEY",
} as const;

type BucketOptions = Record<keyof typeof VARIABLES, string>;

/**
 * Opens the store in the configured bucket.
 *
 * @param prefix - prefix of each key in the bucket, such as `twtxt/`
 * @returns `null` if none is configured
 * @throws TwtxtError `bad-option` for an incomplete configuration, since data must not go elsewhere
 */
export function openBucket(environment: Environment, prefix: string): StreamingStore | null {
  const variables = Object.values(VARIABLES);
  const missing = variables.filter((variable) => readValue(environment, variable) === undefined);
  if (missing.length === variables.length) return null;
  if (missing.length > 0) {
    throw new TwtxtError("bad-option", `A bucket needs ${variables.join(", ")}. Set also ${missing.join(" and ")}.`);
  }
  const values = Object.entries(VARIABLES).map(([name, variable]) => [name, readValue(environment, variable)]);
  const options = Object.fromEntries(values) as BucketOptions;
  return withFormatCheck(new S3Store({ ...options, prefix }), `the bucket ${options.bucket}`);
}

/**
 * Checks that a store can be written and supports conditional writes. Without them, concurrent writers would lose data.
 *
 * @throws TwtxtError `store-failed`
 */
export async function tryStore(store: Store): Promise<void> {
  const key = `trials/${randomBytes(16).toString("hex")}`;
  const first = await store.put(key, randomBytes(16), { isNew: true });
  const second = await store.put(key, randomBytes(16), { isNew: true });
  await store.delete(key);
  if (first !== null && second === null) return;
  throw new TwtxtError(
    "store-failed",
    "The service of this bucket ignores If-None-Match, so concurrent writes would overwrite each other. Use a service that supports conditional writes.",
  );
}
