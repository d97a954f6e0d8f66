// plugin/mentions/send/lease.ts: at most one run at a time, also where a run was killed.

import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";

const KEY = "sent/lease";
const DURATION = 30_000;
const RENEWAL = 5_000;
/** Nothing that is started while the lease is held may outlast it: a mention takes two requests of ten seconds at most. */
const MARGIN = 20_000;
const POLL = 1_000;

const LeaseRecord = v.object({ holder: v.nullable(v.string()), until: v.number() });

/** The right to send. */
export interface Lease {
  /** Whether a mention may be told: that will have ended before anybody else may tell one. */
  isHeld(): boolean;
}

export interface LeaseOptions {
  store: Store;
  now: Clock;
  /** 0 up to, not including, 1; tells two runs from each other. */
  random(): number;
  /** Ends early, and without an error, where the signal says so. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** How long to wait for another run, in milliseconds. One that was killed is in the way for 30 s. */
  patience: number;
  /** Called once, when the waiting begins. */
  onWaiting?(): void;
}

/**
 * Does some work while no other run does any.
 *
 * The lease lasts 30 s and is renewed every 5 s, so that a run that was killed is in nobody's way for long. It is given
 * back by a conditional write and never deleted, since a run that was suspended could delete somebody else's.
 *
 * @throws TwtxtError `already-sending` where another run keeps the lease for longer than we wait; `store-failed`
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
    await giveBack(lease, options.store);
  }
}

interface Held {
  holder: string;
  etag: string;
  until: number;
}

async function takeLease(options: LeaseOptions): Promise<Held> {
  const { store, now, random, sleep, patience, onWaiting } = options;
  const holder = Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32).toString(16)).join("-");
  const giveUp = now() + patience;
  for (let isFirst = true; ; isFirst = false) {
    const stored = await readJson(store, KEY, LeaseRecord);
    if (!stored || stored.value.until <= now()) {
      const until = now() + DURATION;
      const etag = await writeJson(store, KEY, { holder, until }, stored ? { etag: stored.etag } : { isNew: true });
      if (etag !== null) return { holder, etag, until };
    }
    if (now() >= giveUp) {
      throw new TwtxtError("already-sending", "Another run is sending mentions. Nothing was sent; try again later.");
    }
    if (isFirst) onWaiting?.();
    await sleep(POLL);
  }
}

async function keepLease(lease: Held, { store, now, sleep }: LeaseOptions, over: AbortSignal): Promise<void> {
  while (lease.until > 0) {
    await sleep(RENEWAL, over);
    if (over.aborted) return;
    try {
      await renew(lease, store, now());
    } catch {
      // The storage gave no answer. The lease runs on as it is, and the next renewal looks what became of this one.
    }
  }
}

async function renew(lease: Held, store: Store, now: number): Promise<void> {
  const { holder } = lease;
  const until = now + DURATION;
  const etag = await writeJson(store, KEY, { holder, until }, { etag: lease.etag });
  if (etag !== null) return void Object.assign(lease, { etag, until });

  // Perhaps an earlier renewal was written after all, although the storage did not say so.
  const stored = await readJson(store, KEY, LeaseRecord);
  const isOurs = stored?.value.holder === holder;
  Object.assign(lease, isOurs ? { etag: stored.etag, until: stored.value.until } : { until: 0 });
}

async function giveBack({ etag }: Held, store: Store): Promise<void> {
  // What cannot be given back ends by itself.
  await writeJson(store, KEY, { holder: null, until: 0 }, { etag }).catch(() => null);
}
