// plugin/store/lease.ts: a lease, so that one process at a time does some work.
import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { type Clock, isAhead, SKEW_MS } from "../clock.js";
import { ifUnchanged, readJson, writeJson } from "./json.js";
import { type Sleep, sleep } from "./retry.js";
import type { Store } from "./store.js";

const DURATION = 30_000;
const RENEWAL = 5_000;
/** Work must not outlast the lease: a mention takes at most two requests of ten seconds. */
const MARGIN = 20_000;
const POLL = 1_000;
/** A holder that has not renewed its lease for this long begins nothing new. */
const SILENCE = DURATION - MARGIN;

const LeaseRecord = v.object({ holder: v.nullish(v.string(), null), until: v.number() });

export interface Lease {
  /** Whether the lease lasts long enough to begin something that takes 20 s. */
  isHeld(): boolean;
}

export interface LeaseOptions {
  store: Store;
  now: Clock;
  sleep?: Sleep;
  /** Milliseconds to wait for another holder; default 0. A killed one blocks for 30 s. */
  patience?: number;
  /** Called once, when waiting begins. */
  onWaiting?(): void;
  /** The record with which this process released the lease last. Taking it again then costs no read. */
  memory?: { released: { etag: string } | null };
}

/**
 * Runs `work` under the lease of a key, which excludes other processes.
 *
 * The lease lasts 30 s and is renewed every 5 s, so that a killed process does not block others for long. It is released by
 * a conditional write and never deleted: a process that was suspended could delete the lease of another.
 *
 * @returns `null` if another process still holds the lease after `patience`
 * @throws TwtxtError `store-failed`
 */
export async function withLease<T>(
  key: string,
  options: LeaseOptions,
  work: (lease: Lease) => Promise<T>,
): Promise<T | null> {
  const lease = await takeLease(key, options);
  if (!lease) return null;
  const over = new AbortController();
  const renewing = keepLease(lease, options, over.signal);
  try {
    return await work({ isHeld: () => options.now() + MARGIN < lease.until });
  } finally {
    over.abort();
    await renewing;
    // If this fails, the lease expires.
    const etag = await writeJson(options.store, key, { holder: null, until: 0 }, lease).catch(() => null);
    if (options.memory) options.memory.released = etag === null ? null : { etag };
  }
}

interface HeldLease {
  key: string;
  holder: string;
  etag: string;
  until: number;
}

async function takeLease(key: string, options: LeaseOptions): Promise<HeldLease | null> {
  const { store, now, patience = 0, memory } = options;
  const holder = randomUUID();
  const take = async (former: { etag: string } | null): Promise<HeldLease | null> => {
    const until = now() + DURATION;
    const etag = await writeJson(store, key, { holder, until }, ifUnchanged(former));
    return etag === null ? null : { key, holder, etag, until };
  };
  const again = memory?.released && (await take(memory.released));
  if (again) return again;
  const giveUp = now() + patience;
  let etag: string | undefined;
  let polls = 0;
  for (let isFirst = true; ; isFirst = false) {
    const stored = await readJson(store, key, LeaseRecord);
    const isRenewed = !isFirst && stored?.etag !== etag;
    polls = isRenewed ? 0 : polls + 1;
    etag = stored?.etag;
    const { until, holder: other } = stored?.value ?? { until: 0, holder: null };
    const hasEnded = !isAhead(until, now(), DURATION);
    // A lease that has ended by this clock may be held by a process whose clock is behind, which renews it.
    const isDoubtful = hasEnded && other !== null && isAhead(until + SKEW_MS, now(), 0);
    const isWatched = isDoubtful && polls * POLL <= SILENCE;
    const taken = hasEnded && !isWatched ? await take(stored) : null;
    if (taken) return taken;
    if (now() >= giveUp && (!isWatched || isRenewed)) return null;
    if (isFirst) options.onWaiting?.();
    await (options.sleep ?? sleep)(POLL);
  }
}

async function keepLease(lease: HeldLease, options: LeaseOptions, over: AbortSignal): Promise<void> {
  while (lease.until > 0) {
    await (options.sleep ?? sleep)(RENEWAL, over);
    if (over.aborted) return;
    // The next renewal finds out whether one that failed was written.
    await renew(lease, options).catch(() => {});
  }
}

async function renew(lease: HeldLease, { store, now }: LeaseOptions): Promise<void> {
  const { key, holder } = lease;
  const until = now() + DURATION;
  const etag = await writeJson(store, key, { holder, until }, lease);
  if (etag !== null) return void Object.assign(lease, { etag, until });

  // An earlier renewal may have been written although the store reported a failure.
  const stored = await readJson(store, key, LeaseRecord);
  const isOurs = stored?.value.holder === holder;
  Object.assign(lease, isOurs ? { etag: stored.etag, until: stored.value.until } : { until: 0 });
}
