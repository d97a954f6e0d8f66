// plugin/clock.ts: the type of the clock, a parameter of all code that needs the time.

/** @returns the current time in milliseconds since 1970 */
export type Clock = () => number;
