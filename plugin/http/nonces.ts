// plugin/http/nonces.ts: nonces of signed writes, against replay.
import { hash, randomBytes } from "node:crypto";
import type { Store } from "../store/store.js";
import { sweep } from "../store/sweep.js";
import { CLOCK_SKEW } from "./sign-request.js";

/** The folder of used nonces, which belong to the requests of one host: a backup leaves them out, and a restore leaves them as they are. */
export const NONCES = "nonces/";
const HOUR = 3600;
/** How long a nonce is remembered: a request that was valid when it began may need that long for its body. */
const KEPT_HOURS = 24;

/** The parameters that make a signed request unique. */
export interface Nonce {
  /** The signer's key, `kex1...`. */
  keyid: string;
  nonce: string;
  /** Seconds since 1970. */
  expires: number;
}

/**
 * Marks a nonce as used.
 *
 * @returns `false` if it was used before
 * @throws TwtxtError `store-failed`; the nonce may then be used or not
 */
export async function spendNonce(store: Store, nonce: Nonce): Promise<boolean> {
  // Random, because two writers that compete for a key must write different bytes.
  return (await store.put(toKey(nonce), randomBytes(16), { isNew: true })) !== null;
}

/** Whether {@link spendNonce} has marked a nonce as used. @throws TwtxtError `store-failed` */
export async function isNonceSpent(store: Store, nonce: Nonce): Promise<boolean> {
  return (await store.get(toKey(nonce))) !== null;
}

/** Whether a request that expired at this time can no longer be valid. @param expires - seconds since 1970 */
export function isExpired(expires: number, now: number): boolean {
  return expires < now / 1000 - CLOCK_SKEW;
}

/**
 * Removes the nonces of requests that expired a day ago.
 *
 * @param now - milliseconds since 1970
 * @param isOver - stops the removal when it returns `true`
 * @throws TwtxtError `store-failed`
 */
export async function sweepNonces(store: Store, now: number, isOver: () => boolean): Promise<void> {
  const current = toHour(now / 1000 - CLOCK_SKEW) - KEPT_HOURS;
  const isOutdated = (key: string) => Number.parseInt(key.slice(NONCES.length), 10) < current;
  await sweep(store, (await store.keys(NONCES)).filter(isOutdated), isOver);
}

function toKey({ keyid, nonce, expires }: Nonce): string {
  const digest = hash("sha256", `${keyid} ${nonce}`);
  return `${NONCES}${toHour(expires)}-${digest}`;
}

function toHour(seconds: number): number {
  return Math.floor(seconds / HOUR);
}
