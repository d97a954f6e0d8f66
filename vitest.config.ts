import { defineConfig } from "vitest/config";
import { LONGEST_MS } from "./test/helpers/longest.js";

const report = process.env.TWTXT_TEST_REPORT ?? "tests";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/helpers/compile.ts"],
    setupFiles: ["test/helpers/seed.ts"],
    pool: "forks",
    maxWorkers: "100%",
    // So long that they end only what hangs, however busy the machine is.
    testTimeout: LONGEST_MS,
    hookTimeout: LONGEST_MS,
    expect: { poll: { timeout: LONGEST_MS / 2 } },
    reporters: process.env.CI ? ["default", ["json", { outputFile: `.cache/${report}.json` }]] : ["default"],
  },
});
