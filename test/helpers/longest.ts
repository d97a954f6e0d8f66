// test/helpers/longest.ts: how long anything in a test may take before it counts as hanging.

/** In milliseconds. A test that is right never depends on it: it is far more than a busy machine needs. */
export const LONGEST_MS = 300_000;
