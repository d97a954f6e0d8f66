// test/helpers/runs.ts: the number of values that property tests try.

const factor = Number(process.env.RUNS ?? 1);

/** @param count - the number in `npm test`; the environment variable `RUNS=10` makes it ten times as many */
export function runs(count: number): number {
  return Math.ceil(count * factor);
}
