// plugin/mentions/receive/allowance.ts: limits on the time and money that verifications cost the owner.
import { hash } from "node:crypto";
import * as v from "valibot";
import { type Clock, isAhead } from "../../clock.js";
import { coalesce } from "../../concurrency.js";
import { listNetworks, SHARES, WIDE_SHARES } from "../../http/client-networks.js";
import type { Log } from "../../http/respond.js";
import { readJson, update } from "../../store/json.js";
import type { Store } from "../../store/store.js";

/** The groups of {@link senderGroup}, or {@link AUTHOR}. */
export type Requester = string;
/** The daily limit does not apply to the author. */
export const AUTHOR: Requester = "author";

const KEY = "mentions/limits";
/** The group of all verifications. */
const ALL = "all";
/** How often the record is read again, which other processes also write. */
const READ_AGAIN_MS = 10_000;
/** After the first write of a process, less time than this is stored with later verifications. */
const SAVE_MS = 2_000;
/** The newest pauses and the largest sums are stored: anyone can have any number of names below a domain. */
const MAX_ENTRIES = 1_000;

const numbers = v.record(v.string(), v.number());
/** The verification time of a day in milliseconds, by group, and until when slow hosts are not asked. */
const Usage = v.object({ day: v.string(), parties: numbers, slow: numbers });
type Usage = v.InferOutput<typeof Usage>;

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

/**
 * Decides which sources may be asked. The count is approximate: it is summed in memory and written in batches, and a failing
 * store only makes it less exact.
 *
 * @see PROTOCOL 2.4, "The proof"
 */
export class Allowance {
  /** The usage of all processes when it was last read. */
  #stored = emptyUsage("");
  #readAt = Number.NEGATIVE_INFINITY;
  #unsaved = emptyUsage("");
  /** A process of Netlify's may end after its first verification, so that one is stored at once. */
  #saveFrom = 1;

  constructor(readonly options: AllowanceOptions) {}

  /** Whether a source may be asked now: its host is not slow, and the requester has time left. */
  async permits(source: string, requester: Requester): Promise<boolean> {
    await this.#read();
    const { isMetered, limits } = this.options;
    const known = [this.#stored, this.#unsaved];
    if (known.some(({ slow }) => this.#isSlow(slow[hostKey(source)]))) return false;
    if (requester === AUTHOR || !isMetered) return true;
    const ofToday = known.filter(({ day }) => day === this.#today());
    const limit = limits.verificationSeconds * 1000;
    return countedGroups(source, requester).every(({ group, share }) => {
      const used = ofToday.reduce((sum, { parties }) => sum + (parties[group] ?? 0), 0);
      return used < limit * share;
    });
  }

  /** Records the time that a verification took. Does not throw: failing to count must not fail a mention. */
  async record(
    source: string,
    requester: Requester,
    { milliseconds, isTimeout }: { milliseconds: number; isTimeout: boolean },
  ): Promise<void> {
    const { now, limits, isMetered } = this.options;
    const isSlow = isTimeout && limits.slowHostPause > 0;
    if (this.#unsaved.day !== this.#today()) this.#unsaved = { ...emptyUsage(this.#today()), slow: this.#unsaved.slow };
    if (isMetered && requester !== AUTHOR) {
      const groups = countedGroups(source, requester).map(({ group }) => [group, milliseconds] as const);
      addTimes(this.#unsaved.parties, groups);
    }
    if (isSlow) this.#unsaved.slow[hostKey(source)] = now() + limits.slowHostPause * 1000;
    if (isSlow || (this.#unsaved.parties[ALL] ?? 0) >= this.#saveFrom) await this.#save();
  }

  #isSlow(until = 0): boolean {
    const { now, limits } = this.options;
    return isAhead(until, now(), limits.slowHostPause * 1000);
  }

  #today(): string {
    return new Date(this.options.now()).toISOString().slice(0, 10);
  }

  /** What is stored, with what is not: the sums of today, and the pauses that are not over. */
  #sumUp(stored: Usage, { day, slow, parties }: Usage): Usage {
    const pauses = Object.entries({ ...stored.slow, ...slow }).filter(([, until]) => this.#isSlow(until));
    const sums = addTimes(stored.day === day ? stored.parties : {}, Object.entries(parties));
    return { day, parties: keepLargest(Object.entries(sums)), slow: keepLargest(pauses) };
  }

  async #read(): Promise<void> {
    const { store, now, log } = this.options;
    if (Math.abs(now() - this.#readAt) < READ_AGAIN_MS) return;
    this.#readAt = now();
    try {
      this.#stored = (await readJson(store, KEY, Usage))?.value ?? emptyUsage("");
    } catch (error) {
      log(`The limits of verification could not be read: ${(error as Error).message}`, { level: "error" });
    }
  }

  /** After a failure, the next call writes the same sums. */
  readonly #save = coalesce(async () => {
    const { store, now, log } = this.options;
    const saved = this.#unsaved;
    this.#unsaved = emptyUsage("");
    try {
      const stored = await update(store, KEY, Usage, (old) => this.#sumUp(old ?? emptyUsage(""), saved));
      this.#stored = stored ?? this.#stored;
      this.#readAt = now();
      this.#saveFrom = SAVE_MS;
    } catch (error) {
      this.#unsaved = this.#sumUp(this.#unsaved, saved);
      log(`The limits of verification could not be stored: ${(error as Error).message}`, { level: "error" });
    }
  });
}

function keepLargest(entries: [string, number][]): Record<string, number> {
  if (entries.length > MAX_ENTRIES) entries.sort(([, a], [, b]) => b - a);
  return Object.fromEntries(entries.slice(0, MAX_ENTRIES));
}

function emptyUsage(day: string): Usage {
  return { day, parties: {}, slow: {} };
}

function addTimes(sums: Usage["parties"], times: Iterable<readonly [group: string, milliseconds: number]>) {
  for (const [group, milliseconds] of times) sums[group] = (sums[group] ?? 0) + milliseconds;
  return sums;
}

/**
 * The groups in which a sender's limits are counted, one for each of its networks. A group has a million IPv4 addresses, so that
 * what is stored does not reveal one.
 *
 * @param address - IPv4, or the /64 of an IPv6 one
 * @returns 3 hex digits, or for IPv6 twice 6 with a dot in between
 */
export function senderGroup(address: string): Requester {
  // IPv6 has more groups, none of them one of IPv4: out of its 65,536 /64s, a sender could choose the group of another sender.
  const toGroup = (network: string) => hash("sha256", `requester ${network}`).slice(0, network.includes(":") ? 6 : 3);
  return listNetworks(address)
    .map(({ network }) => toGroup(network))
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

export function hostKey(url: string): string {
  return hash("sha256", new URL(url).hostname).slice(0, 16);
}

function countedGroups(source: string, requester: Requester): GroupShare[] {
  return [{ group: ALL, share: 1 }, { group: hostKey(source), share: 1 / SHARES }, ...listShares(requester)];
}
