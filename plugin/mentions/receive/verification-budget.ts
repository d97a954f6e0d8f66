// plugin/mentions/receive/verification-budget.ts: the daily budget of verification time.
//
// A day's sums are split over the records `mentions/spending/<day>/<n>`. Each process writes one of them, picked at
// random, so that concurrent processes seldom write the same one.

import { createHash, randomInt } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import type { Log } from "../../http/respond.js";
import { readJson, update } from "../../store/json.js";
import type { Store } from "../../store/store.js";

const SPENDING = "mentions/spending/";
const RECORDS = 8;
/** A sender's address or a source host uses at most a tenth. PROTOCOL 2.4. */
const SHARES = 10;
/** How often the records of other processes are read again. */
const READ_AGAIN_MS = 10_000;

const Sums = v.object({ total: v.number(), parties: v.record(v.string(), v.number()) });
/** Milliseconds, in total and by party. */
type Sums = v.InferOutput<typeof Sums>;

/**
 * Counts verification time against a daily limit. The count is approximate: it is summed in memory and written in
 * batches, and a failing store only makes it less exact.
 *
 * @see PROTOCOL 2.4, "The proof"
 */
export class VerificationBudget {
  readonly #options: SpendingOptions;
  readonly #record = randomInt(RECORDS);
  #day = "";
  #stored = noSums();
  #readAt = Number.NEGATIVE_INFINITY;
  #unsaved = noSums();
  #writing: Promise<void> | null = null;

  constructor(options: SpendingOptions) {
    this.#options = options;
  }

  /** Whether there is time left today, in total and for each of these parties. */
  async hasLeft(parties: readonly string[]): Promise<boolean> {
    await this.#refresh();
    const limit = this.#options.secondsPerDay * 1000;
    const used = (group: string) => (this.#stored.parties[group] ?? 0) + (this.#unsaved.parties[group] ?? 0);
    const total = this.#stored.total + this.#unsaved.total;
    return total < limit && parties.every((party) => used(groupOf(party)) < limit / SHARES);
  }

  /** Adds the time of a verification for these parties. Does not throw. */
  async add(parties: readonly string[], milliseconds: number): Promise<void> {
    this.#beginDay();
    const groups = new Set(parties.map(groupOf));
    const added = {
      total: milliseconds,
      parties: Object.fromEntries([...groups].map((group) => [group, milliseconds])),
    };
    addTo(this.#unsaved, added);
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  /** Deletes the records of earlier days. */
  async sweep(): Promise<void> {
    const { store } = this.#options;
    for (const key of await store.keys(SPENDING)) if (!key.startsWith(this.#folder())) await store.delete(key);
  }

  #folder(): string {
    return `${SPENDING}${this.#today()}/`;
  }

  #today(): string {
    return new Date(this.#options.now()).toISOString().slice(0, 10);
  }

  #beginDay(): void {
    if (this.#day === this.#today()) return;
    this.#day = this.#today();
    this.#stored = noSums();
    this.#unsaved = noSums();
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  async #refresh(): Promise<void> {
    this.#beginDay();
    const { store, now, log } = this.#options;
    if (now() - this.#readAt < READ_AGAIN_MS) return;
    this.#readAt = now();
    const keys = Array.from({ length: RECORDS }, (_, record) => `${this.#folder()}${record}`);
    try {
      const records = await Promise.all(keys.map((key) => readJson(store, key, Sums)));
      this.#stored = noSums();
      for (const record of records) if (record) addTo(this.#stored, record.value);
    } catch (error) {
      log(`Today's verification time could not be read: ${(error as Error).message}`);
    }
  }

  /** Writes until nothing is unsaved, including what is added meanwhile. After a failure the next call continues. */
  async #write(): Promise<void> {
    const { store, log } = this.#options;
    while (this.#unsaved.total > 0) {
      const [day, saved] = [this.#day, this.#unsaved];
      this.#unsaved = noSums();
      try {
        await update(store, `${SPENDING}${day}/${this.#record}`, Sums, (old) => addTo(old ?? noSums(), saved));
        if (day === this.#day) addTo(this.#stored, saved);
      } catch (error) {
        if (day === this.#day) addTo(this.#unsaved, saved);
        log(`Today's verification time could not be stored: ${(error as Error).message}`);
        return;
      }
    }
  }
}

export interface SpendingOptions {
  store: Store;
  now: Clock;
  secondsPerDay: number;
  log: Log;
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

/** Hashes parties into 4,096 groups: records stay small and do not reveal senders' addresses. */
function groupOf(party: string): string {
  return createHash("sha256").update(party).digest("hex").slice(0, 3);
}
