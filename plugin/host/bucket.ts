// plugin/host/bucket.ts: the store in the owner's S3 bucket, if one is configured. PROTOCOL 7
import { TwtxtError } from "../errors.js";
import { S3Store } from "../store/s3.js";
import type { StreamingStore } from "../store/store.js";

const VARIABLES = {
  endpoint: "TWTXT_S3_ENDPOINT",
  bucket: "TWTXT_S3_BUCKET",
  region: "TWTXT_S3_REGION",
  accessKeyId: "TWTXT_S3_ACCESS_KEY_ID",
  secretAccessKey: "TWTXT_S3_SECRET_ACCESS_KEY",
} as const;

/**
 * Opens the store in the configured bucket.
 *
 * @param prefix - prefix of each key in the bucket, such as `twtxt/`
 * @returns `null` if none is configured
 * @throws TwtxtError `bad-option` for an incomplete configuration, since data must not go elsewhere
 */
export function bucketIn(
  environment: Readonly<Record<string, string | undefined>>,
  prefix: string,
): StreamingStore | null {
  const values = Object.entries(VARIABLES).map(
    ([name, variable]) => [name, environment[variable]?.trim() ?? ""] as const,
  );
  const lacking = values.filter(([, value]) => value === "").map(([name]) => VARIABLES[name as keyof typeof VARIABLES]);
  if (lacking.length === values.length) return null;
  if (lacking.length > 0) {
    throw new TwtxtError(
      "bad-option",
      `A bucket needs ${Object.values(VARIABLES).join(", ")}. Set also ${lacking.join(" and ")}.`,
    );
  }
  return new S3Store({ ...(Object.fromEntries(values) as Record<keyof typeof VARIABLES, string>), prefix });
}
