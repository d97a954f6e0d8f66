// test/helpers/longest.ts: time limits of tests. A correct test never depends on them: a busy machine needs far less.

/** How long a test may take before it counts as hanging, in milliseconds. */
export const LONGEST_MS = 300_000;

/** The deadline of a request that is answered, in milliseconds. */
export const PATIENT_MS = LONGEST_MS / 5;

/** The settings of Vitest with these limits, for each of its configurations. */
export const TIME_LIMITS = {
  testTimeout: LONGEST_MS,
  hookTimeout: LONGEST_MS,
  expect: { poll: { timeout: LONGEST_MS / 2 } },
};
