// plugin/messages/lookup/sender-lookup.ts: looks up senders, with known senders ahead of unknown ones.
import PQueue from "p-queue";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { remember } from "../../groups.js";
import type { Found, Lookup } from "./lookup.js";

/**
 * Looks up a sender.
 *
 * @param isKnown - whether a key of the address is pinned
 * @throws TwtxtError as `lookup`; `not-looked-up` if it waited too long
 */
export type SenderLookup = (address: string, isKnown: boolean) => Promise<Found>;

export interface SenderLookupOptions {
  now: Clock;
  /** Milliseconds that a lookup may wait; default 30,000. */
  patienceMs?: number;
}

/** Concurrent lookups, of known and of unknown senders. */
const CONCURRENCY = 24;
const PATIENCE_MS = 30_000;

/**
 * Creates a lookup with two queues, so that unknown senders with slow hosts do not delay known ones. A lookup that waits
 * too long is given up. Concurrent lookups of an address share one request.
 */
export function createSenderLookup(look: Lookup, { now, patienceMs = PATIENCE_MS }: SenderLookupOptions): SenderLookup {
  const known = new PQueue({ concurrency: CONCURRENCY });
  const strangers = new PQueue({ concurrency: CONCURRENCY });
  const underWay = new Map<string, Promise<Found>>();

  const begin = (address: string, isKnown: boolean) => {
    const latest = now() + patienceMs;
    const lookUp = () => {
      if (now() <= latest) return look(address);
      throw new TwtxtError(
        "not-looked-up",
        `${address} was not looked up: too many lookups were waiting for an answer.`,
      );
    };
    return (isKnown ? known : strangers).add(lookUp).finally(() => underWay.delete(address));
  };
  return (address, isKnown) => remember(underWay, address, () => begin(address, isKnown));
}
