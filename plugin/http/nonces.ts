// plugin/http/nonces.ts: remembers which signed writes were seen, so that none is done twice.
import { createHash, randomBytes } from "node:crypto";
import type { Store } from "../store/store.js";

const FOLDER = "nonces/";
const HOUR = 3600;

/** Seconds by which two clocks may differ. See PROTOCOL 5. */
export const CLOCK_SKEW = 60;

/** What makes a signed request the only one of its kind. */
export interface Nonce {
  /** The signer's key, `kex1...`. */
  keyid: string;
  nonce: string;
  /** Seconds since 1970. */
  expires: number;
}

/**
 * Uses a nonce up.
 *
 * @returns `false` where it was used before
 * @throws TwtxtError `store-failed`; the nonce may then be used up or not
 */
export async function spendNonce(store: Store, { keyid, nonce, expires }: Nonce): Promise<boolean> {
  const hash = createHash("sha256").update(`${keyid} ${nonce}`).digest("hex");
  // Of two writers of a key one must lose, so no two write the same bytes.
  return (await store.put(`${FOLDER}${hourOf(expires)}-${hash}`, randomBytes(16), { isNew: true })) !== null;
}

/**
 * Forgets the nonces of requests that have expired, and would be refused for that.
 *
 * @param now - milliseconds since 1970
 * @param isOver - nothing more is started once this holds
 * @throws TwtxtError `store-failed`
 */
export async function sweepNonces(store: Store, now: number, isOver: () => boolean): Promise<void> {
  const current = hourOf(now / 1000 - CLOCK_SKEW);
  for (const key of await store.keys(FOLDER)) {
    if (isOver()) return;
    if (Number.parseInt(key.slice(FOLDER.length), 10) < current) await store.delete(key);
  }
}

/** All of an hour expire before the next one begins. */
function hourOf(seconds: number): number {
  return Math.floor(seconds / HOUR);
}
