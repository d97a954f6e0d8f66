// plugin/messages/lookup/sender-lookup.ts: looks up who has written, where strangers choose how many that are and how slow.

import PQueue from "p-queue";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import type { Found, Lookup } from "./lookup.js";

/**
 * Looks up a sender.
 *
 * @param isKnown - whether a key of the address is pinned
 * @throws TwtxtError as `lookup`; `not-looked-up` where its turn did not come in time
 */
export type SenderLookup = (address: string, isKnown: boolean) => Promise<Found>;

export interface SenderLookupOptions {
  now: Clock;
  /** How long somebody waits for a turn, in milliseconds; default 30,000. */
  patienceMs?: number;
}

/** How many are looked up at once, of those that are known and of strangers. */
const CONCURRENCY = 24;
const PATIENCE_MS = 30_000;

/**
 * Looks senders up so that no stranger with a thousand silent hosts delays others: who is known never queues behind
 * strangers, and who has waited for too long is not looked up at all. Who is being looked up is not asked a second time
 * meanwhile; later it is asked anew.
 */
export function senderLookup(look: Lookup, { now, patienceMs = PATIENCE_MS }: SenderLookupOptions): SenderLookup {
  const known = new PQueue({ concurrency: CONCURRENCY });
  const strangers = new PQueue({ concurrency: CONCURRENCY });
  const underWay = new Map<string, Promise<Found>>();

  const begin = (address: string, isKnown: boolean) => {
    const latest = now() + patienceMs;
    const turn = () => {
      if (now() <= latest) return look(address);
      throw new TwtxtError("not-looked-up", `${address} was not looked up: too many others did not answer.`);
    };
    return (isKnown ? known : strangers).add(turn).finally(() => underWay.delete(address));
  };
  return (address, isKnown) => {
    const looking = underWay.get(address) ?? begin(address, isKnown);
    underWay.set(address, looking);
    return looking;
  };
}
