import { defineConfig } from "vitest/config";
import { LONGEST_MS } from "../helpers/longest.js";

/** `npm run screenshots`: writes the pictures of the web client in docs/images. */
export default defineConfig({
  test: {
    include: ["test/e2e/*.screenshots.ts"],
    globalSetup: ["test/helpers/compile.ts"],
    setupFiles: ["test/helpers/setup.ts"],
    testTimeout: LONGEST_MS,
    hookTimeout: LONGEST_MS,
    expect: { poll: { timeout: LONGEST_MS / 2 } },
  },
});
