// plugin/options/blobs.ts: what the option `blobs` may hold.
import * as v from "valibot";
import { about, amount } from "./forms.js";
import { publicKey } from "./inbox.js";

const BLOBS_FORM = "true, false, or an object such as { megabytes: 1000 }";

/** The option `blobs`, where it is an object. */
export const BLOBS = v.strictObject(
  {
    count: about("How many blobs an owner may keep.", amount(1, 100_000, 1000)),
    megabytes: about("How many MiB an owner may keep in all.", amount(1, 1_000_000, 1000)),
    maxMegabytes: about("How many MiB one blob may have. On Netlify 4 at most.", amount(1, 10_000, 100)),
    owners: v.optional(
      about(
        "Public keys of others who may keep blobs here, beside the authors of the site.",
        v.array(publicKey, 'a list of public keys such as ["kex1..."]'),
      ),
      [],
    ),
  },
  BLOBS_FORM,
);
