// plugin/http/site-clock.ts: the clock of the author's site, by which it judges the times of signatures. PROTOCOL 5
//
// A site refuses a signature whose time is more than a minute away from its own (401 `wrong-clock`). Either clock may be wrong, so
// the request is signed once more, with the `Date` of the refusal.
//
// A false `Date` lets a former host of the domain, or a network that reads plain http, repeat this read, or deliver this write
// once, up to an hour later: as long as caches of DNS send requests to a former host anyway. A difference of more gets no
// signature, and the error names both times.
import type { Clock } from "../clock.js";
import { CLOCK_SKEW } from "./sign-request.js";

/** The largest correction, in seconds: an hour, as by summer time, and the accepted difference. */
const MAX_CORRECTION = 3600 + CLOCK_SKEW;

/** The clock of a site, as far as it is known. */
export class SiteClock {
  #offsetMs = 0;

  /** @param machine - the clock of this machine */
  constructor(private readonly machine: Clock) {}

  /** Milliseconds since 1970, for signatures. */
  now(): number {
    return this.machine() + this.#offsetMs;
  }

  /**
   * Takes the time from a refusal.
   *
   * @param date - the header `Date`
   * @returns whether a new signature may be accepted: the difference is neither negligible nor too large
   */
  correct(date: string | null): boolean {
    const time = Date.parse(date ?? "");
    const offset = time - this.machine();
    const isUseful = Math.abs(time - this.now()) > CLOCK_SKEW * 1000 && Math.abs(offset) <= MAX_CORRECTION * 1000;
    if (isUseful) this.#offsetMs = offset;
    return isUseful;
  }

  /** Both times, in a sentence; empty if they hardly differ. @param date - the header `Date` */
  compare(date: string | null): string {
    const time = Date.parse(date ?? "");
    if (!(Math.abs(time - this.machine()) > CLOCK_SKEW * 1000)) return "";
    return ` The clock of this machine says ${formatTime(this.machine())}, that of the site ${formatTime(time)}: set the wrong one.`;
  }
}

function formatTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
