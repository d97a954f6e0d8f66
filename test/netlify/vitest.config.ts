import { defineConfig } from "vitest/config";
import { TIME_LIMITS } from "../helpers/longest.js";

/** Separate from the other tests: these need Netlify's command line, which the first run installs. */
export default defineConfig({
  test: {
    include: ["test/netlify/*.spec.ts"],
    globalSetup: ["test/netlify/install.ts"],
    setupFiles: ["test/helpers/setup.ts"],
    ...TIME_LIMITS,
  },
});
