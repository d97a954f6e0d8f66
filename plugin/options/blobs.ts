// plugin/options/blobs.ts: the option `blobs`.
import * as v from "valibot";
import { publicKey } from "./inbox.js";
import { amount, optionalOr } from "./value-types.js";

const MIB = 2 ** 20;
/** Netlify passes no larger request to a function. PROTOCOL 6 */
const NETLIFY_MIB = 4;

export const BLOBS = v.strictObject(
  {
    count: amount("Blobs that an owner may keep.", 1, 100_000, 1000),
    megabytes: amount("MiB that an owner may keep in total.", 1, 1_000_000, 1000),
    maxMegabytes: amount("The maximum size of a blob in MiB. On Netlify, never more than 4.", 1, 10_000, 100),
    owners: optionalOr(
      "Public keys of further owners, in addition to the authors of the site.",
      v.array(publicKey, 'a list of public keys such as ["kex1..."]'),
      [],
    ),
    formerKeys: optionalOr(
      "Former keys of the site's author, the oldest first. Their blobs stay, and `blob:KEY` in posts keeps its URL.",
      v.array(publicKey, 'a list of public keys such as ["kex1..."]'),
      [],
    ),
  },
  "true, false, or an object such as { megabytes: 1000 }",
);

export type BlobsOptions = v.InferOutput<typeof BLOBS>;

export function maxBlobBytes({ maxMegabytes }: BlobsOptions, host: string): number {
  return (host === "netlify" ? Math.min(maxMegabytes, NETLIFY_MIB) : maxMegabytes) * MIB;
}
