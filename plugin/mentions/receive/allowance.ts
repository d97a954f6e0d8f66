// plugin/mentions/receive/allowance.ts: limits on the time and money that verifications cost the owner.
//
// A day's sums are split over the records `mentions/spending/<day>/<n>`. Each process writes one of them, picked at
// random, so that concurrent processes seldom write the same one.

import { createHash, randomInt } from "node:crypto";
import * as v from "valibot";
import { type Clock, isAhead } from "../../clock.js";
import { listNetworks, SHARES, WIDE_SHARES } from "../../http/client-networks.js";
import type { Log } from "../../http/respond.js";
import { readJson, update, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { coalesce } from "../concurrency.js";

/** The groups of {@link senderGroup}, {@link UNKNOWN} or {@link AUTHOR}. */
export type Requester = string;
/** The group of mentions without a sender: those that an older version stored share the time of one sender. */
export const UNKNOWN: Requester = hashParty("requester schedule");
/** The daily limit does not apply to the author. */
export const AUTHOR: Requester = "author";

const SPENDING = "mentions/spending/";
const RECORDS = 8;
/** How often the records of other processes are read again. */
const READ_AGAIN_MS = 10_000;

/** Records of source hosts that timed out. */
const SLOW = "mentions/slow/";
const SlowHost = v.object({ until: v.number() });

const Sums = v.object({ total: v.number(), parties: v.record(v.string(), v.number()) });
/** Milliseconds, in total and by party. */
type Sums = v.InferOutput<typeof Sums>;

interface DaySums {
  /** `YYYY-MM-DD`; empty before the first call. */
  day: string;
  /** The sums of all processes when they were last read, and when that was. */
  stored: Sums;
  readAt: number;
  unsaved: Sums;
}

interface AllowanceOptions {
  store: Store;
  now: Clock;
  limits: {
    /** Seconds a day. */
    verificationSeconds: number;
    /** Seconds for which a slow host is not asked; 0 for no pause. */
    slowHostPause: number;
  };
  /** Whether the owner pays for each second. */
  isMetered: boolean;
  log: Log;
}

/** Decides which sources may be asked. PROTOCOL 2.4, "The proof". */
export class Allowance {
  readonly #options: AllowanceOptions;
  readonly #budget: VerificationBudget | null;

  constructor(options: AllowanceOptions) {
    this.#options = options;
    this.#budget = options.isMetered ? new VerificationBudget(options) : null;
  }

  /** Whether a source may be asked now: its host is not slow, and the requester has time left. */
  async permits(source: string, requester: Requester): Promise<boolean> {
    if (await this.#isSlow(slowKey(source))) return false;
    return requester === AUTHOR || this.#budget === null || this.#budget.hasLeft(countedGroups(source, requester));
  }

  /** Records the time that a verification took. Does not throw: failing to count must not fail a mention. */
  async record(
    source: string,
    requester: Requester,
    { milliseconds, isTimeout }: { milliseconds: number; isTimeout: boolean },
  ): Promise<void> {
    const { store, now, limits, log } = this.#options;
    if (requester !== AUTHOR) await this.#budget?.add(countedGroups(source, requester), milliseconds);
    if (!isTimeout || limits.slowHostPause === 0) return;
    await writeJson(store, slowKey(source), { until: now() + limits.slowHostPause * 1000 }).catch((error: Error) =>
      log(`A slow host could not be recorded: ${error.message}`, { level: "error" }),
    );
  }

  /** Deletes outdated records. @param isOver - when true, nothing more is started */
  async sweep(isOver: () => boolean): Promise<void> {
    const { store } = this.#options;
    await this.#budget?.sweep();
    for (const key of await store.keys(SLOW)) {
      if (isOver()) return;
      if (!(await this.#isSlow(key))) await store.delete(key);
    }
  }

  async #isSlow(key: string): Promise<boolean> {
    const { store, now, limits } = this.#options;
    const stored = await readJson(store, key, SlowHost);
    return stored !== null && isAhead(stored.value.until, now(), limits.slowHostPause * 1000);
  }
}

/**
 * Counts verification time against a daily limit. The count is approximate: it is summed in memory and written in
 * batches, and a failing store only makes it less exact.
 *
 * @see PROTOCOL 2.4, "The proof"
 */
class VerificationBudget {
  readonly #options: AllowanceOptions;
  /** The record that this process writes. */
  readonly #record = randomInt(RECORDS);
  #current = emptySums("");

  constructor(options: AllowanceOptions) {
    this.#options = options;
  }

  /** Whether there is time left today, in total and for each of these groups. */
  async hasLeft(groups: readonly GroupShare[]): Promise<boolean> {
    const { stored, unsaved } = await this.#read();
    const limit = this.#options.limits.verificationSeconds * 1000;
    const used = (group: string) => (stored.parties[group] ?? 0) + (unsaved.parties[group] ?? 0);
    return stored.total + unsaved.total < limit && groups.every(({ group, share }) => used(group) < limit * share);
  }

  /** Adds the time of a verification for these groups. Does not throw. */
  async add(groups: readonly GroupShare[], milliseconds: number): Promise<void> {
    const ofParties = Object.fromEntries(groups.map(({ group }) => [group, milliseconds]));
    addTo(this.#today().unsaved, { total: milliseconds, parties: ofParties });
    await this.#save();
  }

  /** Deletes the records of earlier days. */
  async sweep(): Promise<void> {
    const { store } = this.#options;
    const today = toFolder(this.#today());
    for (const key of await store.keys(SPENDING)) if (!key.startsWith(today)) await store.delete(key);
  }

  #today(): DaySums {
    const day = new Date(this.#options.now()).toISOString().slice(0, 10);
    if (this.#current.day !== day) this.#current = emptySums(day);
    return this.#current;
  }

  async #read(): Promise<DaySums> {
    const { store, now, log } = this.#options;
    const today = this.#today();
    if (now() - today.readAt < READ_AGAIN_MS) return today;
    today.readAt = now();
    const keys = Array.from({ length: RECORDS }, (_, record) => `${toFolder(today)}${record}`);
    try {
      const records = await Promise.all(keys.map((key) => readJson(store, key, Sums)));
      today.stored = noSums();
      for (const record of records) if (record) addTo(today.stored, record.value);
    } catch (error) {
      log(`Today's verification time could not be read: ${(error as Error).message}`, { level: "error" });
    }
    return today;
  }

  /** After a failure, the next call writes the same sums. */
  readonly #save = coalesce(async () => {
    const { store, log } = this.#options;
    const today = this.#today();
    const saved = today.unsaved;
    if (saved.total === 0) return;
    today.unsaved = noSums();
    try {
      await update(store, `${toFolder(today)}${this.#record}`, Sums, (old) => addTo(old ?? noSums(), saved));
      addTo(today.stored, saved);
    } catch (error) {
      addTo(today.unsaved, saved);
      log(`Today's verification time could not be stored: ${(error as Error).message}`, { level: "error" });
    }
  });
}

function toFolder({ day }: DaySums): string {
  return `${SPENDING}${day}/`;
}

function emptySums(day: string): DaySums {
  return { day, stored: noSums(), unsaved: noSums(), readAt: Number.NEGATIVE_INFINITY };
}

function noSums(): Sums {
  return { total: 0, parties: {} };
}

function addTo(sums: Sums, added: Sums): Sums {
  sums.total += added.total;
  for (const [group, milliseconds] of Object.entries(added.parties)) {
    sums.parties[group] = (sums.parties[group] ?? 0) + milliseconds;
  }
  return sums;
}

/**
 * The groups in which a sender's limits are counted, one for each of its networks. Each is one of 4,096, so that what is stored
 * does not reveal an address.
 *
 * @param address - IPv4, or the /64 of an IPv6 one
 * @returns 3 hex digits, or for IPv6 twice 3 with a dot in between
 */
export function senderGroup(address: string): Requester {
  return listNetworks(address)
    .map(({ network }) => hashParty(`requester ${network}`))
    .join(".");
}

/** A group of senders or sources, and its part of a limit. */
export interface GroupShare {
  group: string;
  /** From 0 to 1. */
  share: number;
}

/** @returns the narrowest first */
export function listShares(requester: Requester): GroupShare[] {
  return requester.split(".").map((group, i) => ({ group, share: (i === 0 ? 1 : WIDE_SHARES) / SHARES }));
}

/** The group of the widest network: how senders take turns. */
export function findWidestGroup(requester: Requester): string {
  return requester.slice(requester.indexOf(".") + 1);
}

/** Hashes parties into 4,096 groups: records stay small and do not reveal senders' addresses. */
function hashParty(party: string): string {
  return createHash("sha256").update(party).digest("hex").slice(0, 3);
}

/** A host as part of a key. */
export function hostKey(url: string): string {
  return createHash("sha256").update(new URL(url).hostname).digest("hex").slice(0, 16);
}

function slowKey(source: string): string {
  return `${SLOW}${hostKey(source)}`;
}

function countedGroups(source: string, requester: Requester): GroupShare[] {
  return [{ group: hashParty(`source ${new URL(source).hostname}`), share: 1 / SHARES }, ...listShares(requester)];
}
