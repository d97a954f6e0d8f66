// plugin/mentions/send/lease.ts: a lease, so that one run sends at a time.
import * as v from "valibot";
import { type Clock, isAhead } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { ifUnchanged, readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";

const KEY = "sent/lease";
const DURATION = 30_000;
const RENEWAL = 5_000;
/** Work must not outlast the lease: a mention takes at most two requests of ten seconds. */
const MARGIN = 20_000;
const POLL = 1_000;

const LeaseRecord = v.object({ holder: v.nullable(v.string()), until: v.number() });

export interface Lease {
  /** Whether the lease lasts long enough to send another mention. */
  isHeld(): boolean;
}

export interface LeaseOptions {
  store: Store;
  now: Clock;
  /** 0 up to, not including, 1; identifies the run. */
  random(): number;
  /** Resolves early when the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Milliseconds to wait for another run; default 0. A killed run blocks for 30 s. */
  patience?: number;
  /** Called once, when waiting begins. */
  onWaiting?(): void;
}

/**
 * Runs `work` under a lease that excludes other runs.
 *
 * The lease lasts 30 s and is renewed every 5 s, so that a killed run does not block others for long. It is released by
 * a conditional write and never deleted: a run that was suspended could delete the lease of another.
 *
 * @throws TwtxtError `already-sending` if another run still holds the lease after `patience`; `store-failed`
 */
export async function withLease<T>(options: LeaseOptions, work: (lease: Lease) => Promise<T>): Promise<T> {
  const lease = await takeLease(options);
  const over = new AbortController();
  const renewing = keepLease(lease, options, over.signal);
  try {
    return await work({ isHeld: () => options.now() + MARGIN < lease.until });
  } finally {
    over.abort();
    await renewing;
    await releaseLease(lease, options.store);
  }
}

interface HeldLease {
  holder: string;
  etag: string;
  until: number;
}

async function takeLease(options: LeaseOptions): Promise<HeldLease> {
  const { store, now, random, patience = 0 } = options;
  const holder = Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32).toString(16)).join("-");
  const giveUp = now() + patience;
  for (let isFirst = true; ; isFirst = false) {
    const stored = await readJson(store, KEY, LeaseRecord);
    if (!stored || !isAhead(stored.value.until, now(), DURATION)) {
      const until = now() + DURATION;
      const etag = await writeJson(store, KEY, { holder, until }, ifUnchanged(stored));
      if (etag !== null) return { holder, etag, until };
    }
    if (now() >= giveUp) {
      throw new TwtxtError("already-sending", "Another run is sending mentions. Nothing was sent; try again later.");
    }
    if (isFirst) options.onWaiting?.();
    await options.sleep(POLL);
  }
}

async function keepLease(lease: HeldLease, { store, now, sleep }: LeaseOptions, over: AbortSignal): Promise<void> {
  while (lease.until > 0) {
    await sleep(RENEWAL, over);
    if (over.aborted) return;
    try {
      await renew(lease, store, now());
    } catch {
      // The next renewal finds out whether this one was written.
    }
  }
}

async function renew(lease: HeldLease, store: Store, now: number): Promise<void> {
  const { holder } = lease;
  const until = now + DURATION;
  const etag = await writeJson(store, KEY, { holder, until }, { etag: lease.etag });
  if (etag !== null) return void Object.assign(lease, { etag, until });

  // An earlier renewal may have been written although the store reported a failure.
  const stored = await readJson(store, KEY, LeaseRecord);
  const isOurs = stored?.value.holder === holder;
  Object.assign(lease, isOurs ? { etag: stored.etag, until: stored.value.until } : { until: 0 });
}

async function releaseLease({ etag }: HeldLease, store: Store): Promise<void> {
  // If this fails, the lease expires.
  await writeJson(store, KEY, { holder: null, until: 0 }, { etag }).catch(() => null);
}
