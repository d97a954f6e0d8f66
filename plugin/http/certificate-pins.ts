// plugin/http/certificate-pins.ts: certificates of gemini servers, trusted on first use. PROTOCOL 2.8
import { hash } from "node:crypto";
import * as v from "valibot";
import { type Clock, DAY } from "../clock.js";
import { TwtxtError } from "../errors.js";
import { Collection } from "../store/collection.js";
import type { Store } from "../store/store.js";
import type { ServerCertificate } from "../transport/small-web.js";

/** A pinned certificate that was not seen for this long no longer counts, so that a lost one ends no feed for ever. */
const FORGET_MS = 30 * DAY;

/** Times are milliseconds since 1970. */
const Pin = v.object({ fingerprint: v.string(), expires: v.number(), seen: v.number() });

/** @param host - `host:port`. @throws TwtxtError `unreachable` for another certificate than that of the host */
export type CheckCertificate = (host: string, certificate: ServerCertificate) => Promise<void>;

/**
 * Accepts the first certificate of a server, and then that one only, unless it has expired, was not seen for 30 days, or
 * a known authority has signed the new one.
 */
export function certificatePins(store: Store, clock: Clock): CheckCertificate {
  const pins = new Collection(store, "gemini/pins/", Pin);
  return async (host, { fingerprint, expires, isAuthorized }) => {
    const now = clock();
    const id = hash("sha256", host).slice(0, 32);
    const known = await pins.get(id);
    const isOver = known && (known.expires < now || known.seen < now - FORGET_MS);
    if (known && known.fingerprint !== fingerprint && !isOver && !isAuthorized) {
      const what = `${host} has another certificate than before, so it may be another server`;
      const until = "The new one is accepted when the known one has expired, or was not seen for 30 days";
      throw new TwtxtError("unreachable", `${what}. ${until}.`);
    }
    const isNoted = known?.fingerprint === fingerprint && known.seen > now - DAY;
    if (!isNoted) await pins.write(id, { fingerprint, expires, seen: now });
  };
}
