// test/helpers/runs.ts: how many values property tests try.

const factor = Number(process.env.RUNS ?? 1);

/** @param count - in `npm test`; with `RUNS=10` in the environment, ten times as many are tried */
export function runs(count: number): number {
  return Math.ceil(count * factor);
}
