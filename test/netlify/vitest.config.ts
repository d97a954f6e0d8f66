import { defineConfig } from "vitest/config";

/** Apart from the other tests: these need Netlify's command line, which is installed with the first run. */
export default defineConfig({
  test: {
    include: ["test/netlify/*.spec.ts"],
    globalSetup: ["test/netlify/install.ts"],
    setupFiles: ["test/helpers/setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
