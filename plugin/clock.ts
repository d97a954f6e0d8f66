// plugin/clock.ts: the type of the clock, a parameter of all code that needs the time, spans of time, and stored times.
import * as v from "valibot";

/** In milliseconds. */
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** @returns the current time in milliseconds since 1970 */
export type Clock = () => number;

/** By how much the clocks of processes that share a store may differ. */
export const SKEW_MS = 5 * MINUTE;

/**
 * Whether a stored time is still ahead. A time further ahead than it was ever stored comes from a wrong clock and counts as past.
 *
 * @param time - milliseconds since 1970, as stored
 * @param longest - the longest time ahead for which it is stored, in milliseconds
 */
export function isAhead(time: number, now: number, longest: number): boolean {
  return time > now && time <= now + longest + SKEW_MS;
}

/** A clock as the runs of the jobs saw it. Both in milliseconds since 1970. */
export const ObservedClock = v.object({
  last: v.number(),
  /** Since when it has not jumped. */
  steadySince: v.number(),
});
export type ObservedClock = v.InferOutput<typeof ObservedClock>;

/** Runs are at most a day apart. After a longer pause, nobody knows whether time has passed or the clock has jumped. */
const LONGEST_PAUSE_MS = 2 * DAY;
/** Clocks of several machines may differ, and a run takes some time. */
const BACKWARDS_MS = HOUR;

/** @param before - what the last run saw; `null` for none */
export function observeClock(before: ObservedClock | null, now: number): ObservedClock {
  const isSteady = before !== null && now >= before.last - BACKWARDS_MS && now <= before.last + LONGEST_PAUSE_MS;
  return { last: now, steadySince: isSteady ? before.steadySince : now };
}

/** When something is counted from that was stored at `time`: not before the last jump of the clock, since `time` may be of another clock. */
export function countedSince(time: number, steadySince: number): number {
  return Math.max(time, steadySince);
}

/** The time that a job has. */
export interface JobRun {
  /** Once it returns true, the job starts nothing new. */
  isOver(): boolean;
  /** When the clock last jumped, in milliseconds since 1970. What was stored before may be younger than it seems. */
  steadySince: number;
}
