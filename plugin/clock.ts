// plugin/clock.ts: the type of the clock, a parameter of all code that needs the time, and stored times.

/** @returns the current time in milliseconds since 1970 */
export type Clock = () => number;

/** By how much the clocks of processes that share a store may differ. */
const SKEW_MS = 5 * 60_000;

/**
 * Whether a stored time is still ahead. A time further ahead than it was ever stored comes from a wrong clock and counts as past.
 *
 * @param time - milliseconds since 1970, as stored
 * @param longest - the longest time ahead for which it is stored, in milliseconds
 */
export function isAhead(time: number, now: number, longest: number): boolean {
  return time > now && time <= now + longest + SKEW_MS;
}
