// plugin/mentions/receive/allowance.ts: limits on the time and money that verifications cost the owner.
import type { Clock } from "../../clock.js";
import type { Log } from "../../http/respond.js";
import type { Store } from "../../store/store.js";
import { SlowHosts } from "./slow-hosts.js";
import { Spending } from "./spending.js";

/** Who a verification is for: the address of a sender (IPv4, or the /64 of an IPv6 one), {@link SCHEDULE} or {@link AUTHOR}. */
export type Requester = string;
/** The scheduled run. Its share is that of one sender, or the pending mentions of one sender could use up everything. */
export const SCHEDULE: Requester = "schedule";
/** The daily limit does not apply to the author. */
export const AUTHOR: Requester = "author";

/** What may still be verified. */
export interface Allowance {
  /** Whether a source may be asked now: its host is not slow, and there is time left for this requester. */
  permits(source: string, requester: Requester): Promise<boolean>;
  /** Records what a verification took. Does not throw: a mention never fails because of the count. */
  record(source: string, requester: Requester, taken: { milliseconds: number; isTimeout: boolean }): Promise<void>;
  /** Deletes outdated records. */
  sweep(): Promise<void>;
}

/** @see PROTOCOL 2.4, "The proof" */
export function allowance({ store, now, limits, isMetered, log }: AllowanceOptions): Allowance {
  const slow = new SlowHosts({ store, now, pauseSeconds: limits.slowHostPause });
  const spending = isMetered ? new Spending({ store, now, secondsPerDay: limits.verificationSeconds, log }) : null;

  return {
    async permits(source, requester) {
      if (await slow.has(source)) return false;
      return requester === AUTHOR || spending === null || spending.hasLeft(partiesOf(source, requester));
    },

    async record(source, requester, { milliseconds, isTimeout }) {
      if (requester !== AUTHOR) await spending?.add(partiesOf(source, requester), milliseconds);
      if (!isTimeout) return;
      await slow.add(source).catch((error: Error) => log(`A slow host is not remembered: ${error.message}`));
    },

    async sweep() {
      await spending?.sweep();
      await slow.sweep();
    },
  };
}

export interface AllowanceOptions {
  store: Store;
  now: Clock;
  limits: {
    /** Seconds; 0 for none. */
    slowHostPause: number;
    /** Seconds a day, where the host is metered. */
    verificationSeconds: number;
  };
  /** Whether the owner pays for each second. */
  isMetered: boolean;
  log: Log;
}

function partiesOf(source: string, requester: Requester): string[] {
  return [`source ${new URL(source).hostname}`, `requester ${requester}`];
}
