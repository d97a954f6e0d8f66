// plugin/http/site-clock.ts: the clock of the author's site, by which it judges the times of signatures. PROTOCOL 5
//
// A site refuses a signature whose time is more than a minute away from its own (401 `wrong-clock`). Either clock may be wrong, so
// the request is signed once more, with the `Date` of the refusal.
//
// A false `Date` in the future gets a signature that is valid only then. The signature covers host, path, query and body, so
// nothing else can be done with it, and each write only once. The site itself gains nothing: it has its data anyway. But a
// former host of the domain, or a network that reads plain http, could repeat a read, or
// deliver a write that it has kept back, up to about an hour later than it saw the request.
// With the limit of one hour it gets no longer than caches of DNS often send requests to a former host anyway. A clock that
// is wrong by more, or a `Date` that is a lie, gets no signature, and the error names both times.
import type { Clock } from "../clock.js";
import { CLOCK_SKEW } from "./sign-request.js";

/** The largest correction, in seconds: an hour, as by summer time, and the accepted difference. */
const MAX_CORRECTION = 3600 + CLOCK_SKEW;

/** The clock of a site, as far as it is known. */
export class SiteClock {
  readonly #now: Clock;
  #offsetMs = 0;

  /** @param now - the clock of this machine */
  constructor(now: Clock) {
    this.#now = now;
  }

  /** Milliseconds since 1970, for signatures. */
  now(): number {
    return this.#now() + this.#offsetMs;
  }

  /**
   * Takes the time from a refusal.
   *
   * @param date - the header `Date`
   * @returns whether a new signature may be accepted: the difference is neither negligible nor too large
   */
  correct(date: string | null): boolean {
    const time = Date.parse(date ?? "");
    const offset = time - this.#now();
    const isUseful = Math.abs(time - this.now()) > CLOCK_SKEW * 1000 && Math.abs(offset) <= MAX_CORRECTION * 1000;
    if (isUseful) this.#offsetMs = offset;
    return isUseful;
  }

  /** Both times, in a sentence; empty if they hardly differ. @param date - the header `Date` */
  compare(date: string | null): string {
    const time = Date.parse(date ?? "");
    if (!(Math.abs(time - this.#now()) > CLOCK_SKEW * 1000)) return "";
    return ` The clock of this machine says ${formatTime(this.#now())}, that of the site ${formatTime(time)}: set the wrong one.`;
  }
}

function formatTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
