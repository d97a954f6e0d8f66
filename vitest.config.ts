import { defineConfig } from "vitest/config";

const report = process.env.TWTXT_TEST_REPORT ?? "tests";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/helpers/compile.ts"],
    setupFiles: ["test/helpers/seed.ts"],
    pool: "forks",
    maxWorkers: "100%",
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: process.env.CI ? ["default", ["json", { outputFile: `.cache/${report}.json` }]] : ["default"],
  },
});
