// plugin/mentions/receive/allowance.ts: limits on the time and money that verifications cost the owner.
import type { Clock } from "../../clock.js";
import type { Log } from "../../http/respond.js";
import type { Store } from "../../store/store.js";
import { SlowHosts } from "./slow-hosts.js";
import { VerificationBudget } from "./verification-budget.js";

/** The address of a sender (IPv4, or the /64 of an IPv6 one), {@link SCHEDULE} or {@link AUTHOR}. */
export type Requester = string;
/** The scheduled run. It gets the share of one sender, so that one sender's pending mentions cannot use up the budget. */
export const SCHEDULE: Requester = "schedule";
/** The daily limit does not apply to the author. */
export const AUTHOR: Requester = "author";

export interface AllowanceOptions {
  store: Store;
  now: Clock;
  limits: {
    /** Seconds; 0 for no pause. */
    slowHostPause: number;
    /** Seconds a day, on a metered host. */
    verificationSeconds: number;
  };
  /** Whether the owner pays for each second. */
  isMetered: boolean;
  log: Log;
}

/** Decides which sources may be asked. PROTOCOL 2.4, "The proof". */
export class Allowance {
  readonly #slowHosts: SlowHosts;
  readonly #budget: VerificationBudget | null;
  readonly #log: Log;

  constructor({ store, now, limits, isMetered, log }: AllowanceOptions) {
    this.#slowHosts = new SlowHosts({ store, now, pauseSeconds: limits.slowHostPause });
    this.#budget = isMetered
      ? new VerificationBudget({ store, now, secondsPerDay: limits.verificationSeconds, log })
      : null;
    this.#log = log;
  }

  /** Whether a source may be asked now: its host is not slow, and the requester has time left. */
  async permits(source: string, requester: Requester): Promise<boolean> {
    if (await this.#slowHosts.has(source)) return false;
    return requester === AUTHOR || this.#budget === null || this.#budget.hasLeft(partiesOf(source, requester));
  }

  /** Records the time that a verification took. Does not throw: failing to count must not fail a mention. */
  async record(
    source: string,
    requester: Requester,
    { milliseconds, isTimeout }: { milliseconds: number; isTimeout: boolean },
  ): Promise<void> {
    if (requester !== AUTHOR) await this.#budget?.add(partiesOf(source, requester), milliseconds);
    if (!isTimeout) return;
    await this.#slowHosts
      .add(source)
      .catch((error: Error) => this.#log(`A slow host could not be recorded: ${error.message}`));
  }

  /** Deletes outdated records. */
  async sweep(): Promise<void> {
    await this.#budget?.sweep();
    await this.#slowHosts.sweep();
  }
}

function partiesOf(source: string, requester: Requester): string[] {
  return [`source ${new URL(source).hostname}`, `requester ${requester}`];
}
