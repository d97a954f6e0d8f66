// plugin/options/blobs.ts: the option `blobs`.
import * as v from "valibot";
import { about, amount } from "./forms.js";
import { publicKey } from "./inbox.js";

const BLOBS_FORM = "true, false, or an object such as { megabytes: 1000 }";

/** The option `blobs`, where it is an object. */
export const BLOBS = v.strictObject(
  {
    count: about("Blobs that an owner may keep.", amount(1, 100_000, 1000)),
    megabytes: about("MiB that an owner may keep in total.", amount(1, 1_000_000, 1000)),
    maxMegabytes: about("The maximum size of a blob in MiB. On Netlify, never more than 4.", amount(1, 10_000, 100)),
    owners: v.optional(
      about(
        "Public keys of further owners, in addition to the authors of the site.",
        v.array(publicKey, 'a list of public keys such as ["kex1..."]'),
      ),
      [],
    ),
  },
  BLOBS_FORM,
);
