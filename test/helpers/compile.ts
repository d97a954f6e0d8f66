// test/helpers/compile.ts: compiles the plugin once for a run of tests.
import type { TestProject } from "vitest/node";
import { compile } from "../../build/compile.js";
import { COMPILED } from "./paths.js";

/** Called by Vitest before the first test, and again before a run in watch mode. `.ci/run` compiles once for several runs. */
export default async function setup(project: TestProject): Promise<void> {
  if (!process.env.TWTXT_TEST_COMPILED) await compile(COMPILED);
  project.onTestsRerun(() => compile(COMPILED));
}
