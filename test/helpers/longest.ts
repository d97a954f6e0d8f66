// test/helpers/longest.ts: time limits of tests. No correct test depends on them: even a busy machine needs far less.

/** How long a test may take before it counts as hanging, in milliseconds. */
export const LONGEST_MS = 300_000;

/** The deadline of a request that gets a response, in milliseconds. */
export const PATIENT_MS = LONGEST_MS / 5;

/** Settings with these limits, for each configuration of Vitest. */
export const TIME_LIMITS = {
  testTimeout: LONGEST_MS,
  hookTimeout: LONGEST_MS,
  expect: { poll: { timeout: LONGEST_MS / 2 } },
};
