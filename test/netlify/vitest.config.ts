import { defineConfig } from "vitest/config";

/** Separate from the other tests: these need Netlify's command line, which the first run installs. */
export default defineConfig({
  test: {
    include: ["test/netlify/*.spec.ts"],
    globalSetup: ["test/netlify/install.ts"],
    setupFiles: ["test/helpers/setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
