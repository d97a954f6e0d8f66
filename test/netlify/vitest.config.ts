import { defineConfig } from "vitest/config";
import { LONGEST_MS } from "../helpers/longest.js";

/** Separate from the other tests: these need Netlify's command line, which the first run installs. */
export default defineConfig({
  test: {
    include: ["test/netlify/*.spec.ts"],
    globalSetup: ["test/netlify/install.ts"],
    setupFiles: ["test/helpers/setup.ts"],
    testTimeout: LONGEST_MS,
    hookTimeout: LONGEST_MS,
  },
});
