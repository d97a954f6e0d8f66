import { defineConfig } from "vitest/config";
import { compiledPlugin } from "../helpers/compiled-plugin.js";
import { TIME_LIMITS } from "../helpers/longest.js";
import { reportersFor } from "../helpers/reporters.js";
import { V8_OPTIONS } from "../helpers/v8-options.js";

/**
 * Whole stories: authors in a browser, hosts behind nginx and Caddy, and the packed package, which npm installs from the
 * registry. Separate from the other tests, which cover the same code in smaller parts and a fraction of the time.
 */
export default defineConfig({
  plugins: [compiledPlugin],
  test: {
    include: ["test/e2e/*.test.ts", "test/hosting/*.test.ts"],
    globalSetup: ["test/helpers/temporary-folder.ts", "test/helpers/compile.ts"],
    setupFiles: ["test/helpers/setup.ts"],
    pool: "forks",
    isolate: false,
    execArgv: V8_OPTIONS,
    maxWorkers: 3,
    ...TIME_LIMITS,
    reporters: reportersFor("e2e"),
  },
});
