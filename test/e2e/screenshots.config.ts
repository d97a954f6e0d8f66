import { defineConfig } from "vitest/config";
import { TIME_LIMITS } from "../helpers/longest.js";

/** `npm run screenshots`: writes the screenshots of the web client in docs/images. */
export default defineConfig({
  test: {
    include: ["test/e2e/*.screenshots.ts"],
    globalSetup: ["test/helpers/compile.ts"],
    setupFiles: ["test/helpers/setup.ts"],
    ...TIME_LIMITS,
  },
});
