// plugin/options/blobs.ts: the option `blobs`.
import * as v from "valibot";
import { publicKey } from "./inbox.js";
import { amount } from "./value-types.js";

const MIB = 2 ** 20;
/** Netlify passes no larger request to a function. PROTOCOL 6 */
const NETLIFY_MIB = 4;

/** See docs/blobs.md, Options. */
export const BLOBS = v.strictObject(
  {
    count: amount(1, 100_000, 1000),
    megabytes: amount(1, 1_000_000, 1000),
    maxMegabytes: amount(1, 10_000, 100),
    owners: v.optional(v.array(publicKey, 'a list of public keys such as ["kex1..."]'), []),
    formerKeys: v.optional(v.array(publicKey, 'a list of public keys such as ["kex1..."]'), []),
  },
  "true, false, or an object such as { megabytes: 1000 }",
);

export type BlobsOptions = v.InferOutput<typeof BLOBS>;

export function maxBlobBytes({ maxMegabytes }: BlobsOptions, host: string): number {
  return (host === "netlify" ? Math.min(maxMegabytes, NETLIFY_MIB) : maxMegabytes) * MIB;
}
