// test/helpers/reporters.ts: Vitest's output: on the terminal, and in CI also a report that .ci/count.mjs reads.
export function reportersFor(name: string): ("default" | ["json", { outputFile: string }])[] {
  const report = process.env.TWTXT_TEST_REPORT ?? name;
  return process.env.CI ? ["default", ["json", { outputFile: `.cache/${report}.json` }]] : ["default"];
}
