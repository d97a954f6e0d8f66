// plugin/http/certificate-pins.ts: certificates of gemini servers, trusted on first use. PROTOCOL 2.8
import { hash } from "node:crypto";
import * as v from "valibot";
import { TwtxtError } from "../errors.js";
import { Collection } from "../store/collection.js";
import type { Store } from "../store/store.js";
import type { ServerCertificate } from "../transport/small-web.js";

const DAY_MS = 24 * 3600_000;
/** A pinned certificate that was not seen for this long no longer counts, so that a lost one ends no feed for ever. */
const FORGET_MS = 30 * DAY_MS;

/** Times are milliseconds since 1970. */
const Pin = v.object({ fingerprint: v.string(), expires: v.number(), seen: v.number() });

/** The known certificates, in a store. */
export class CertificatePins {
  readonly #pins: Collection<v.InferOutput<typeof Pin>>;
  readonly #now: () => number;

  constructor(store: Store, now: () => number) {
    this.#pins = new Collection(store, "gemini/pins/", Pin);
    this.#now = now;
  }

  /**
   * Accepts the first certificate of a server, and then that one only, unless it has expired, was not seen for 30 days, or
   * a known authority has signed the new one.
   *
   * @param host - `host:port`
   * @throws TwtxtError `unreachable` for another certificate
   */
  async check(host: string, { fingerprint, expires, isAuthorized }: ServerCertificate): Promise<void> {
    const now = this.#now();
    const id = hash("sha256", host).slice(0, 32);
    const known = await this.#pins.get(id);
    const isOver = known && (known.expires < now || known.seen < now - FORGET_MS);
    if (known && known.fingerprint !== fingerprint && !isOver && !isAuthorized) {
      throw new TwtxtError(
        "unreachable",
        `${host} has another certificate than before, so it may be another server. The new one is accepted when the known one has expired, or was not seen for 30 days.`,
      );
    }
    const isNoted = known?.fingerprint === fingerprint && known.seen > now - DAY_MS;
    if (!isNoted) await this.#pins.write(id, { fingerprint, expires, seen: now });
  }
}
