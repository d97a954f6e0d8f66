// plugin/clock.ts: the time, as every part of this package takes it.

/** @returns the current time in milliseconds since 1970 */
export type Clock = () => number;
