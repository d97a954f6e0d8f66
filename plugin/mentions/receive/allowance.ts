// plugin/mentions/receive/allowance.ts: limits on the time and money that verifications cost the owner.
import { createHash } from "node:crypto";
import * as v from "valibot";
import { isAhead } from "../../clock.js";
import { readJson, writeJson } from "../../store/json.js";
import { type BudgetOptions, VerificationBudget } from "./verification-budget.js";

/** The address of a sender (IPv4, or the /64 of an IPv6 one), {@link SCHEDULE} or {@link AUTHOR}. */
export type Requester = string;
/** The scheduled run. It gets the share of one sender, so that one sender's pending mentions cannot use up the budget. */
export const SCHEDULE: Requester = "schedule";
/** The daily limit does not apply to the author. */
export const AUTHOR: Requester = "author";

/** Records of source hosts that timed out. */
const SLOW = "mentions/slow/";
const SlowHost = v.object({ until: v.number() });

interface AllowanceOptions extends BudgetOptions {
  limits: BudgetOptions["limits"] & {
    /** Seconds for which a slow host is not asked; 0 for no pause. */
    slowHostPause: number;
  };
  /** Whether the owner pays for each second. */
  isMetered: boolean;
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
    return requester === AUTHOR || this.#budget === null || this.#budget.hasLeft(partiesOf(source, requester));
  }

  /** Records the time that a verification took. Does not throw: failing to count must not fail a mention. */
  async record(
    source: string,
    requester: Requester,
    { milliseconds, isTimeout }: { milliseconds: number; isTimeout: boolean },
  ): Promise<void> {
    const { store, now, limits, log } = this.#options;
    if (requester !== AUTHOR) await this.#budget?.add(partiesOf(source, requester), milliseconds);
    if (!isTimeout || limits.slowHostPause === 0) return;
    await writeJson(store, slowKey(source), { until: now() + limits.slowHostPause * 1000 }).catch((error: Error) =>
      log(`A slow host could not be recorded: ${error.message}`),
    );
  }

  /** Deletes outdated records. */
  async sweep(): Promise<void> {
    const { store } = this.#options;
    await this.#budget?.sweep();
    for (const key of await store.keys(SLOW)) if (!(await this.#isSlow(key))) await store.delete(key);
  }

  async #isSlow(key: string): Promise<boolean> {
    const { store, now, limits } = this.#options;
    const stored = await readJson(store, key, SlowHost);
    return stored !== null && isAhead(stored.value.until, now(), limits.slowHostPause * 1000);
  }
}

/** A host as part of a key. */
export function hostKey(url: string): string {
  return createHash("sha256").update(new URL(url).hostname).digest("hex").slice(0, 16);
}

function slowKey(source: string): string {
  return `${SLOW}${hostKey(source)}`;
}

function partiesOf(source: string, requester: Requester): string[] {
  return [`source ${new URL(source).hostname}`, `requester ${requester}`];
}
