// plugin/author/visits.ts: what is new in a list since the author's last visit.
import * as v from "valibot";
import type { Clock } from "../clock.js";
import { readJson, update } from "../store/json.js";
import type { Store } from "../store/store.js";

/** An author who returns after a longer time visits the list again. */
const VISIT_MS = 10 * 60_000;

const SeenRecord = v.object({ upTo: v.string() });

/** The visits to one list. All times have one form, such as `YYYY-MM-DDThh:mm:ssZ`. The method throws TwtxtError `store-failed`. */
export class Visits {
  /** The time of the newest item that the author has seen; `null` before the first visit. */
  seen: string | null = null;
  /** `at` is the time of its last page. */
  #visit: { before: string; at: number } | null = null;

  private constructor(
    private readonly store: Store,
    private readonly key: string,
    private readonly now: Clock,
  ) {}

  /** @param key - of the list in the store */
  static async open(store: Store, key: string, now: Clock): Promise<Visits> {
    const visits = new Visits(store, key, now);
    visits.seen = await visits.#storedSeen();
    return visits;
  }

  /** The time of the newest item of the visit before: later ones are new. `null` during the first visit. */
  get seenBefore(): string | null {
    return this.#visit === null ? this.seen : this.#visit.before;
  }

  /** Marks all items as seen by the author. @param newest - the time of the newest one */
  async markSeen(newest: string): Promise<void> {
    const now = this.now();
    if (this.#visit === null || now - this.#visit.at > VISIT_MS) {
      this.#visit = { before: (await this.#storedSeen()) ?? newest, at: now };
    }
    this.#visit.at = now;
    const change = (old: { upTo: string } | null) => (old && old.upTo >= newest ? null : { upTo: newest });
    this.seen = (await update(this.store, this.key, SeenRecord, change))?.upTo ?? newest;
  }

  async #storedSeen(): Promise<string | null> {
    return (await readJson(this.store, this.key, SeenRecord))?.value.upTo ?? null;
  }
}
